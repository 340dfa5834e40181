// Package lastwrites keeps controllers from deciding on a cache that does not show yet what this manager wrote last. A reconciliation of
// an older state would repeat the work of the last one, revert its conditions, or create objects a second time.
//
// The client of the manager records its writes. A guard around each controller checks, before a reconciliation, that the cache shows the
// last write of the object itself and of every object that earlier reconciliations of it wrote. If not, it postpones the reconciliation
// and counts it. After a write without a clear answer, the API server is asked which state the cache must show.
// With IsSettled, a controller waits until another one, which may act on an older state, has ended its reconciliation.
package lastwrites
