// Package operate sends writes and actions to Azure and follows what becomes of them.
//
// There is one operation per resource and one per serial key at a time: who comes second is told who came first, and is
// woken when that has ended. No call waits for Azure's long-running operations: timers look how they are doing, and whoever
// waits is woken at the end. Before anybody is woken, the cache knows what the operation may have changed, and the
// operation's Ended has been called. What an operation is for is nobody's business here.
//
// Of its neighbours it knows observe, through which it reads resources and whose cache it invalidates; observe knows
// nothing of operations.
package operate
