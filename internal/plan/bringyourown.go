package plan

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lastapplied"
)

// IsBYONetwork tells whether the network that Azure has is one that users brought: "bring your own", as Azure's documentation
// says. One that was the cluster's once is not, also when somebody has taken the ownership tag off: what hangs on it would
// look superfluous.
func IsBYONetwork(in ClusterInput, network VNetFact) bool {
	return network.IsForeign() && !slices.ContainsFunc(lastapplied.RecordedResources(in.AzureCluster.Annotations), func(id arm.ID) bool {
		return VNetID(in).Equal(arm.SubscriptionID(in.SubscriptionID) + id)
	})
}

// BYOSubnetPrefixes are the CIDR blocks of a subnet of a network that users brought; ok is false when it is not there, or is
// the cluster's.
func BYOSubnetPrefixes(in ClusterInput, network VNetFact, name string) (prefixes []string, ok bool) {
	if !IsBYONetwork(in, network) {
		return nil, false
	}
	return network.BYOSubnetPrefixes(SubnetID(in, name), inventory.Read("AzureCluster", in.AzureCluster))
}
