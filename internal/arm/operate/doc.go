// Package operate sends writes and actions to Azure and follows their operations.
//
// There is one operation per resource and one per serial key at a time. A second caller gets the first operation and is woken at its
// end. No call waits for Azure's long-running operations: timers check their progress, and waiting objects are woken at the end. Before
// that, the cache is invalidated for everything that the operation may have changed, and the operation's OnEnd is called. The package
// does not know the purpose of operations.
//
// It uses package observe to read resources and invalidates its cache; observe does not know operations.
package operate
