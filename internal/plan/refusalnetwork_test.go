package plan_test

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
)

// TestConnectionsCheck plans peerings and private endpoints that Azure refuses.
func TestConnectionsCheck(t *testing.T) {
	tests := map[string]struct {
		reason, from string
		change       func(in *plan.ClusterInput)
		want         []string
	}{
		"fixed address of two groups": {
			reason: "Azure needs the group of each address",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[0].PrivateIPAddresses = []string{"10.1.0.20"}
			},
			want: []string{"spec.networkSpec.subnets[1].privateEndpoints[0].privateIPAddresses ... blob, file, blob ... one endpoint per group"},
		},
		"fixed address of a registry": {
			reason: "Azure needs an address of each data endpoint, too",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				endpoint := &in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[0]
				endpoint.PrivateIPAddresses = []string{"10.1.0.20"}
				connectTo(endpoint, "Microsoft.ContainerRegistry/registries", "registry")
			},
			want: []string{"spec.networkSpec.subnets[1].privateEndpoints[0].privateIPAddresses ... the group registry of this service has several members ... remove the addresses"},
		},
		"fixed address of Cosmos DB with the API of MongoDB": {
			reason: "Azure needs an address of each region of the account, too, whatever API it has",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				endpoint := &in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[0]
				endpoint.PrivateIPAddresses = []string{"10.1.0.20"}
				connectTo(endpoint, "Microsoft.DocumentDb/databaseAccounts", "MongoDB")
			},
			want: []string{"spec.networkSpec.subnets[1].privateEndpoints[0].privateIPAddresses ... the group MongoDB of this service has several members"},
		},
		"fixed address of a table": {
			reason: "the group of a storage account has the name of a group of Cosmos DB, and one member",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				endpoint := &in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[0]
				endpoint.PrivateIPAddresses = []string{"10.1.0.20"}
				connectTo(endpoint, "Microsoft.Storage/storageAccounts", "table")
			},
		},
		"two fixed addresses of a group": {
			reason: "a group has one member",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				endpoint := &in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[0]
				endpoint.PrivateIPAddresses = []string{"10.1.0.20", "10.1.0.21"}
				endpoint.PrivateLinkServiceConnections = endpoint.PrivateLinkServiceConnections[1:]
			},
			want: []string{"spec.networkSpec.subnets[1].privateEndpoints[0].privateIPAddresses ... one address: remove the others"},
		},
		"gateways of two networks": {
			reason: "a network uses the gateway of one other network",
			from:   "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				for i := range in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings {
					in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings[i].ForwardPeeringProperties.UseRemoteGateways = new(true)
				}
			},
			want: []string{"spec.networkSpec.vnet.peerings[1].forwardPeeringProperties.useRemoteGateways ... set it for one peering only"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, test.from).ClusterInput
			test.change(&in)
			fieldtest.RequireRefusals(t, test.reason, cluster.CheckSpec(in), test.want)
		})
	}
}

// connectTo connects an endpoint with one group of one service.
func connectTo(endpoint *infrav1.PrivateEndpointSpec, kind, group string) {
	endpoint.PrivateLinkServiceConnections = []infrav1.PrivateLinkServiceConnection{{
		PrivateLinkServiceID: "/subscriptions/s/resourceGroups/rg/providers/" + kind + "/x", GroupIDs: []string{group}}}
}
