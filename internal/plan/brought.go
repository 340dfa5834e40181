package plan

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// NetworkMark stands in the memory of plans for the ownership tag that the cluster's network has been seen with.
func NetworkMark(in ClusterInput) arm.ID {
	key, _ := OwnerTag(in)
	return VNetID(in).Child("tags", key)
}

// BroughtNetwork tells whether the network that Azure has is one that users brought. One that was the cluster's once is
// not, also when somebody has taken the ownership tag off: what hangs on it would look superfluous.
func BroughtNetwork(in ClusterInput, network VNetFact) bool {
	mark := NetworkMark(in)
	planned := memory.Memory{SubscriptionID: in.SubscriptionID, Stored: in.AzureCluster.Annotations[memory.PlannedAnnotation], MayPrune: mark.Equal}
	return network.Foreign() && !slices.ContainsFunc(planned.Recall(), mark.Equal)
}

// BroughtSubnet are the CIDR blocks of a subnet of a network that users brought; ok is false when it is not there, or is
// the cluster's.
func BroughtSubnet(in ClusterInput, network VNetFact, name string) (prefixes []string, ok bool) {
	if !BroughtNetwork(in, network) {
		return nil, false
	}
	return network.Brought(SubnetID(in, name), in.AzureCluster.Annotations)
}
