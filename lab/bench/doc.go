// Package bench measures the cost of a provider: it runs one scenario in a lab of its own and reports figures from
// outside of the provider only: from the simulator's log of requests, the API server's audit log and /proc. Every
// provider can be measured, and two runs of one scenario can be compared.
package bench
