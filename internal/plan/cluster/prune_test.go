package cluster_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// withSubnets is a cluster whose subnets have a route table and a NAT gateway each.
func withSubnets(names ...string) plan.ClusterInput {
	in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{}}}}
	for _, name := range names {
		subnet := infrav1.SubnetSpec{RouteTable: infrav1.RouteTable{Name: name + "-rt"}}
		subnet.Name, subnet.Role, subnet.NatGateway.Name = name, infrav1.SubnetNode, name+"-nat"
		in.AzureCluster.Spec.NetworkSpec.Subnets = append(in.AzureCluster.Spec.NetworkSpec.Subnets, subnet)
	}
	return in
}

func planOf(t *testing.T, in plan.ClusterInput) *arm.Graph {
	t.Helper()
	g, err := cluster.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPruneWhenTheSpecShrinks(t *testing.T) {
	two := withSubnets("a", "b")
	stored := cluster.Remember(two, planOf(t, two))

	one := withSubnets("a")
	one.AzureCluster.Annotations[cluster.PlannedAnnotation] = stored
	g := planOf(t, one)
	var got []string
	for _, id := range cluster.Prune(one, g) {
		got = append(got, id.Short())
	}
	if diff := cmp.Diff([]string{"natGateways/b-nat", "publicIPAddresses/pip-b-nat", "routeTables/b-rt", "subnets/b"}, got); diff != "" {
		t.Error(diff)
	}
	if kept := cluster.Remember(one, g); kept != stored {
		t.Errorf("until the second subnet is gone nothing may be forgotten: got %s, want %s", kept, stored)
	}

	one.AzureCluster.Annotations[cluster.PlannedAnnotation] = cluster.Settled(one, g)
	if left := cluster.Prune(one, g); len(left) > 0 {
		t.Errorf("settled, and still to prune: %v", left)
	}
}

func TestPruneRulesOfOtherReleases(t *testing.T) {
	in := withSubnets("a")
	in.AzureCluster.Annotations[infrav1.LastAppliedSecurityRulesAnnotation] = `{"a-nsg":{"gone":"was ours","kept":"is ours"}}`
	in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup.Name = "a-nsg"
	in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules = infrav1.SecurityRules{{Name: "kept"}}
	want := []arm.ID{"/subscriptions/s/resourceGroups/c/providers/Microsoft.Network/networkSecurityGroups/a-nsg/securityRules/gone"}
	if diff := cmp.Diff(want, cluster.Prune(in, planOf(t, in))); diff != "" {
		t.Error(diff)
	}
}

func TestPruneRulesOfTheSpec(t *testing.T) {
	in := withSubnets("a")
	group := &in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup
	group.Name, group.SecurityRules = "a-nsg", infrav1.SecurityRules{{Name: "kept"}, {Name: "dropped"}}
	in.AzureCluster.Annotations[cluster.PlannedAnnotation] = cluster.Settled(in, planOf(t, in))
	if got := cluster.Prune(in, planOf(t, in)); len(got) > 0 {
		t.Errorf("nothing was dropped yet, got %v", got)
	}
	group.SecurityRules = group.SecurityRules[:1]
	want := []arm.ID{"/subscriptions/s/resourceGroups/c/providers/Microsoft.Network/networkSecurityGroups/a-nsg/securityRules/dropped"}
	if diff := cmp.Diff(want, cluster.Prune(in, planOf(t, in))); diff != "" {
		t.Error(diff)
	}
}

func TestPruneNeverTakesTheNetwork(t *testing.T) {
	in := withSubnets()
	in.AzureCluster.Annotations[cluster.PlannedAnnotation] = `["/resourceGroups/other","/resourceGroups/c/providers/Microsoft.Network/virtualNetworks/old","no ID",""]`
	if got := cluster.Prune(in, planOf(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	in.AzureCluster.Annotations[cluster.PlannedAnnotation] = `[`
	if got := cluster.Prune(in, planOf(t, in)); len(got) > 0 {
		t.Errorf("an annotation that cannot be read deleted %v", got)
	}
}
