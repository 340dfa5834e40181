// Package observe reads resources from Azure and shares the reads for a short time.
//
// A Cache keeps reads until they are too old for the caller or Cache.Invalidate reports a change; there is no other invalidation. A
// Reader answers from the cache and requests the rest from Azure: one by one, or with a list if several resources of one collection are
// wanted. It writes nothing and makes no decisions.
package observe
