package cluster

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestGroupNameTags expects the tags Name of the established provider, which gives the cluster's group its own name and the network's one
// that of an object in Kubernetes.
func TestGroupNameTags(t *testing.T) {
	for name, want := range map[string]string{"net-rg": "net-rg", "My_Net": "my-net", "Net.(West)": "net-west", "_": "_"} {
		in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{}}
		in.AzureCluster.Spec.ResourceGroup = "My_Cluster"
		in.AzureCluster.Spec.NetworkSpec.Vnet.ResourceGroup = name
		g := &arm.Graph{}
		addResourceGroups(in, g)
		for group, want := range map[string]string{"My_Cluster": "My_Cluster", name: want} {
			node := g.Node(arm.ResourceGroupID("s", group))
			if got := *node.Body.(armresources.ResourceGroup).Tags[infrav1.NameTag]; got != want {
				t.Errorf("the tag Name of group %s is %q, want %q", group, got, want)
			}
		}
	}
}
