package cluster

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addRouteTables adds the route tables of the subnets that are created, each once. cloud-provider-azure writes their
// routes.
func addRouteTables(in plan.ClusterInput, g *arm.Graph) {
	for _, subnet := range listManagedSubnets(in) {
		name := subnet.RouteTable.Name
		if id := plan.RouteTableID(in, name); name != "" && !g.Has(id) {
			g.Add(arm.Node{
				ID: id,
				Body: armnetwork.RouteTable{
					Location:   new(plan.Location(in)),
					Tags:       plan.BuildTags(in, "", name, in.AzureCluster.Spec.AdditionalTags),
					Properties: &armnetwork.RouteTablePropertiesFormat{},
				},
				Policy: arm.Repair,
				Group:  infrav1.RouteTablesReadyCondition,
			})
		}
	}
}
