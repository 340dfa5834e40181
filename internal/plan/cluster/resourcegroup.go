package cluster

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addResourceGroups plans the cluster's resource group, that of the network if it is another one, and looks for that of the
// private DNS zone, which is not made. Groups that were there before are used.
func addResourceGroups(in plan.ClusterInput, g *arm.Graph) {
	names := []string{plan.ResourceGroup(in)}
	if network := plan.VNetResourceGroup(in); !strings.EqualFold(network, names[0]) {
		names = append(names, network)
	}
	for i, name := range names {
		// Nothing is begun in another cluster's group. The engine knows what has been made there already.
		var others arm.OtherClusterAction
		switch {
		case i > 0: // A network may be another cluster's.
		case plan.WasProvisioned(in.AzureCluster):
			others = arm.ReportOtherCluster
		default:
			others = arm.RefuseOtherCluster
		}
		g.Add(arm.Node{
			OtherCluster: others,
			ID:           arm.ResourceGroupID(in.SubscriptionID, name),
			Body: armresources.ResourceGroup{
				Location: new(plan.Location(in)),
				Tags:     plan.BuildTags(in, infrav1.RoleCommon, name, in.AzureCluster.Spec.AdditionalTags),
			},
			Foreign: arm.UseForeign,
			Policy:  arm.Repair,
			Group:   infrav1.ResourceGroupReadyCondition,
		})
	}
	if zone := arm.ResourceGroupID(in.SubscriptionID, plan.PrivateDNSZoneResourceGroup(in)); hasPrivateDNS(in) && !g.Has(zone) {
		g.Add(arm.Node{ID: zone, Policy: arm.Observe, Group: infrav1.PrivateDNSZoneReadyCondition})
	}
}
