// Package bench measures what a provider costs: it runs one scenario in a lab of its own and reports figures that come from
// outside of the provider only, from the simulator's log of requests, the API server's audit log and /proc. Every provider can
// be put there, and two runs of one scenario can be laid beside each other.
package bench
