// Package engine brings Azure resources in line with a graph of nodes, and takes them away again.
//
// Each call is one pass: it observes, starts every write that is ready, and returns without waiting for Azure's
// long-running operations. A watcher follows those and wakes whoever waits. Nothing about operations is kept outside
// memory: after a restart, provisioningState tells what is under way.
//
// What the engine may do follows from ownership: a resource that does not carry the cluster's tag, is not below one that
// does, and is not in the inventory is never written and never deleted.
package engine
