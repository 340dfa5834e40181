package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// ListSharingPools returns the other pools with the same agent pool that are not being deleted. If there are any, the agent pool must not
// be deleted with this pool.
func ListSharingPools(pools []Pool, pool Pool) (out []*infrav1.AzureManagedMachinePool) {
	for _, other := range listActivePools(pools) {
		if other.AzurePool.Name != pool.AzurePool.Name && PoolName(other) == PoolName(pool) {
			out = append(out, other.AzurePool)
		}
	}
	return out
}

// WasPlanned reports whether an agent pool was planned for the object, so that Azure may have it. clusterctl move drops the status, and an
// autoscaled pool may have no VMs, so each sign of a plan counts.
func WasPlanned(azurePool *infrav1.AzureManagedMachinePool) bool {
	provisioned := azurePool.Status.Initialization.Provisioned
	return len(azurePool.Spec.ProviderIDList) > 0 || azurePool.Status.Ready || provisioned != nil && *provisioned ||
		applied.IsStored(azurePool.Annotations)
}

// findNameOwner returns the other pool to which the agent pool of this one belongs, or nil.
func findNameOwner(in Input, pool Pool) *infrav1.AzureManagedMachinePool {
	for _, other := range ListSharingPools(in.Pools, pool) {
		if nameUser(other).OwnsName(nameUser(pool.AzurePool)) {
			return other
		}
	}
	return nil
}

// nameUser returns a pool as user of its agent pool.
func nameUser(azurePool *infrav1.AzureManagedMachinePool) plan.NameUser {
	return plan.NameUser{Object: azurePool, Planned: WasPlanned(azurePool)}
}
