package cluster_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// A deletion must not fail because the spec is broken or the Cluster is gone.
func TestDeletePlanAcceptsAnySpec(t *testing.T) {
	in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}}
	spec := &in.AzureCluster.Spec
	spec.NetworkSpec.Subnets = infrav1.Subnets{{}, {},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"x"}}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "A"},
			NatGateway: infrav1.NatGateway{NatGatewayClassSpec: infrav1.NatGatewayClassSpec{Name: "g"}}}}
	spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal},
		FrontendIPs: []infrav1.FrontendIP{{}}}
	spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{Name: "out",
		FrontendIPs: []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}}}}
	spec.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{}}
	spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{}
	graph, err := cluster.BuildDeletePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, node := range graph.Nodes() {
		names = append(names, node.ID.ShortName())
		if node.Body != nil {
			t.Errorf("%s: nothing is written", node.ID)
		}
	}
	for _, want := range []string{"resourceGroups/c", "virtualNetworks/c-vnet", "subnets/a", "loadBalancers/out", "natGateways/g",
		"publicIPAddresses/pip-g", "privateDnsZones/c.capz.io"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the deletion: %v", want, names)
		}
	}
}

func TestDeletePlanDoesNotChangeItsInput(t *testing.T) {
	in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}}}
	if _, err := cluster.BuildDeletePlan(in); err != nil {
		t.Fatal(err)
	}
	if in.AzureCluster.Spec.ControlPlaneEnabled {
		t.Error("the deletion turned the control plane on in the object it was given")
	}
}
