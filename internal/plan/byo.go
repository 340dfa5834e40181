package plan

import (
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// BYONetwork tells whether the network that Azure has is one that users brought: "bring your own", as Azure's documentation
// says. One that was the cluster's once is not, also when somebody has taken the ownership tag off: what hangs on it would
// look superfluous.
func BYONetwork(in ClusterInput, network VNetFact) bool {
	return network.Foreign() && !slices.ContainsFunc(memory.Made(in.AzureCluster.Annotations), func(id arm.ID) bool {
		return VNetID(in).Equal(arm.SubscriptionID(in.SubscriptionID) + id)
	})
}

// BYOSubnet are the CIDR blocks of a subnet of a network that users brought; ok is false when it is not there, or is
// the cluster's.
func BYOSubnet(in ClusterInput, network VNetFact, name string) (prefixes []string, ok bool) {
	if !BYONetwork(in, network) {
		return nil, false
	}
	return network.BYOSubnet(SubnetID(in, name), inventory.Of("AzureCluster", in.AzureCluster))
}
