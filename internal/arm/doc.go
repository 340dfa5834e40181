// Package arm is the vocabulary that plans, the engine and the controllers share: resource IDs, the nodes and graph of a desired state,
// the outcome of its convergence, and Azure's errors.
//
// The package has only plain data and pure functions. It sends no requests to Azure or Kubernetes, reads no clock, and imports only the
// standard library.
package arm
