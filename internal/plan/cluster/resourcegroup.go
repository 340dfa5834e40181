package cluster

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addResourceGroups adds the cluster's resource group, the network's if it is another one, and reads the one of the
// private DNS zone, which is never created. Existing groups are used.
func addResourceGroups(in plan.ClusterInput, g *arm.Graph) {
	names := []string{plan.ResourceGroup(in)}
	if network := plan.VNetResourceGroup(in); !strings.EqualFold(network, names[0]) {
		names = append(names, network)
	}
	for i, name := range names {
		tag := name
		// A new cluster is not started in another cluster's group. The engine knows the resources that exist there already.
		var others arm.OtherClusterAction
		switch {
		case i > 0: // The network may belong to another cluster.
			tag = cmp.Or(normalizeName(name), name)
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
				Tags:     plan.BuildTags(in, infrav1.RoleCommon, tag, in.AzureCluster.Spec.AdditionalTags),
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

var notInObjectName = regexp.MustCompile(`[^a-z0-9-]+`)

// normalizeName returns the name as that of an object in Kubernetes. The established provider gives it to the network's group in the tag
// Name, so existing groups have it there.
func normalizeName(name string) string {
	return strings.Trim(notInObjectName.ReplaceAllString(strings.ToLower(name), "-"), "-")
}
