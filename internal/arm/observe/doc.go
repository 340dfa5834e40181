// Package observe reads resources from Azure and shares what it read for a short while.
//
// What is read is kept in a Cache until it is too old for who asks, or Cache.Invalidate says that it may have changed, which
// is the only way to make it worthless. A Reader answers from the cache what it can, and asks Azure for the rest: one by
// one, or by a list when several resources of one collection are wanted. It writes nothing and decides nothing.
package observe
