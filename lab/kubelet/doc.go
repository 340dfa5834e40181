// Package kubelet runs the managers' Deployments of a management cluster as processes of this machine.
//
// Its promise: one process for each Deployment that asks for replicas, with the arguments, environment and ServiceAccount
// of its pod template and nothing else, but for what the table Differences says. What it cannot run as written it refuses by
// name. It follows the Deployments until its context ends: what is changed is replaced, what died is started again, what is
// scaled down or deleted is stopped, and the status of the Deployment says which. Processes outlive it.
package kubelet
