// Package overlay is the Azure of a plan: reads show the live Azure, or an empty one, and writes change a simulated copy of it that later
// reads show. The writes are recorded.
//
// It sends only GET requests to the live Azure. It is safe for concurrent use and ends with its process.
package overlay
