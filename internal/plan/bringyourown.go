package plan

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// IsBYONetwork returns true if users brought the network that exists in Azure ("bring your own" in Azure's documentation).
// A network that lastApplied records as the cluster's is never a user's, even if its ownership tag was removed: otherwise
// the resources in it would be removed as no longer planned.
func IsBYONetwork(in ClusterInput, network VNetFact) bool {
	return network.IsForeign() && !slices.ContainsFunc(applied.RecordedResources(in.AzureCluster.Annotations), func(id arm.ID) bool {
		return VNetID(in).Equal(arm.SubscriptionID(in.SubscriptionID) + id)
	})
}

// BYOSubnetPrefixes returns the CIDR blocks of a subnet in a network that users brought. ok is false if the subnet does
// not exist, or was created for the cluster.
func BYOSubnetPrefixes(in ClusterInput, network VNetFact, name string) (prefixes []string, ok bool) {
	if !IsBYONetwork(in, network) {
		return nil, false
	}
	return network.BYOSubnetPrefixes(SubnetID(in, name), applied.ReadInventory("AzureCluster", in.AzureCluster))
}
