// Package engine brings Azure resources in line with a graph of nodes, and takes them away again.
//
// Each call is one pass: it observes, starts every write that is ready, and returns without waiting for Azure's
// long-running operations. Package operate follows those and wakes whoever waits. Nothing about operations is kept outside
// memory: after a restart, provisioningState tells what is under way.
//
// What is done about a resource is decided by one pure function from its situation: decide. The tables of its tests say what the
// engine does, and nothing is written that it did not tell to send.
//
// What the engine may do follows from ownership: a resource that does not carry the cluster's tag, is not below one that
// does, and is not in the inventory is never written and never deleted.
package engine
