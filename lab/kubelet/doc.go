// Package kubelet runs the managers' Deployments of a management cluster as processes of this machine.
//
// It runs one process for each Deployment with replicas, with the arguments, environment and ServiceAccount of its pod
// template and nothing else, except for the entries of the table Differences. It refuses by name all settings that a
// process cannot have. It follows the Deployments until its context ends: it replaces changed ones, starts processes
// again that died, stops those that are scaled down or deleted, and reports that in the status of the Deployment.
// Processes outlive it.
package kubelet
