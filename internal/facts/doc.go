// Package facts reads the facts that plans depend on from Azure: the offers of the region, the contents of a network, the free
// ports. It only reads.
//
// Answers that change rarely (VM sizes, zones, regions) are kept for Options.TTL per subscription and principal, at least 10 minutes,
// and concurrent callers share one request. The manager sets the TTL to its sync period. Answers about resources of a cluster come
// from Options.Read and have its age. After an error, a question is not asked again until the next try is due, unless the input of
// its Caller changed. All calls may be repeated and made concurrently.
package facts
