// Package facts asks Azure the questions that plans depend on and writes the answers into the plan's input: what the
// region offers, what is in a network, which port is free. It only reads.
//
// Answers that change rarely (VM sizes, zones, regions) are kept for a day per subscription and principal, and callers
// that ask for the same thing at the same time share one request. Answers about a cluster's own resources come through
// Options.Read and are as fresh as that is. A question that Azure answered with an error is not put again before its next try
// is due, unless who asks was corrected, which Asking tells. All calls may be repeated and made concurrently.
package facts
