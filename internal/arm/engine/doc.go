// Package engine brings Azure resources in line with a graph of nodes, and deletes them.
//
// Each call is one convergence: it reads the resources, starts every write that is ready, and returns without waiting for Azure's
// long-running operations. Package operate follows those and wakes the objects that wait for them. Operations are kept in memory only:
// after a restart, provisioningState shows which ones are running.
//
// One pure function decides about each resource from its situation: decide. The tables of its tests are the specification. The engine
// sends no write that decide did not return.
//
// Ownership limits the engine: a resource that does not carry the cluster's tag, is not below one that does, and is not in the
// inventory is never written and never deleted.
package engine
