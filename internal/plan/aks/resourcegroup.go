package aks

import (
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// addResourceGroups adds the resource group of the managed cluster, and that of the network if it is another one. Existing groups
// are used.
func addResourceGroups(in Input, g *arm.Graph) {
	names := []string{ResourceGroupName(in)}
	if network := VNetResourceGroupName(in); !strings.EqualFold(network, names[0]) {
		names = append(names, network)
	}
	for _, name := range names {
		g.Add(arm.Node{
			ID:      arm.ResourceGroupID(in.SubscriptionID, name),
			Body:    armresources.ResourceGroup{Location: new(Location(in)), Tags: buildTags(in, infrav1.RoleCommon, name)},
			Foreign: arm.UseForeign,
			Policy:  arm.Repair,
			Group:   infrav1.ResourceGroupReadyCondition,
		})
	}
}
