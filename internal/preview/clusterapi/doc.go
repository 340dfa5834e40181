// Package clusterapi plays the part of Cluster API in a plan: the owner references, statuses, Machines and bootstrap data that the
// controllers of this provider wait for.
//
// It follows the contracts of Cluster API (https://cluster-api.sigs.k8s.io/developer/providers/contracts/overview) and the rollouts of
// KubeadmControlPlane and MachineDeployment with their default strategies: one new Machine, and then one old Machine goes. Names of new
// Machines are placeholders, because Cluster API draws them by lot. It writes only to the API server of the plan.
package clusterapi
