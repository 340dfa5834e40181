// Package bridge makes a booted simulated VM a Node of a workload cluster.
package bridge
