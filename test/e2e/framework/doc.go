// Package framework has the functions that Cluster API's test framework lacks for this provider: the owners and finalizers of its kinds,
// and waiters for managed control planes. The waiters know the contract of control plane providers only, so Cluster API could take them
// as they are. They fail the running spec of Ginkgo, like the functions of Cluster API's framework.
package framework
