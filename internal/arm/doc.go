// Package arm is the vocabulary that plans, the engine and the controllers share: resource IDs, the nodes and graph of a
// desired state, the outcome of converging it, and Azure's errors.
//
// Everything here is plain data and pure functions over it. Nothing talks to Azure or Kubernetes, nothing reads a clock,
// and nothing imports more than the standard library.
package arm
