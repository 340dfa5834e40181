package cluster_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// withSubnets returns a cluster whose subnets have a route table and a NAT gateway each.
func withSubnets(names ...string) plan.ClusterInput {
	in := plan.ClusterInput{SubscriptionID: "s",
		AzureCluster: &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Annotations: map[string]string{}}}}
	for _, name := range names {
		subnet := infrav1.SubnetSpec{RouteTable: infrav1.RouteTable{Name: name + "-rt"}}
		subnet.Name, subnet.Role, subnet.NatGateway.Name = name, infrav1.SubnetNode, name+"-nat"
		in.AzureCluster.Spec.NetworkSpec.Subnets = append(in.AzureCluster.Spec.NetworkSpec.Subnets, subnet)
	}
	return in
}

func mustPlan(t *testing.T, in plan.ClusterInput) *arm.Graph {
	t.Helper()
	g, err := cluster.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// storeBefore stores the record that the reconciler stores before it converges a plan.
func storeBefore(in plan.ClusterInput, g *arm.Graph) {
	if paths := cluster.LastApplied(in).PathsBefore(g); paths != nil {
		storePaths(in, paths)
	}
}

// storeAfter stores the record that the reconciler stores once the plan is in place.
func storeAfter(in plan.ClusterInput, g *arm.Graph) {
	storePaths(in, cluster.LastApplied(in).PathsAfter(g, outcomeOfAll(g)))
}

func storePaths(in plan.ClusterInput, paths applied.Paths) {
	content := applied.Read(in.AzureCluster.Annotations)
	content.Applied = paths
	content.Store(in.AzureCluster)
}

// outcomeOfAll returns the outcome of a reconciliation that found everything as planned.
func outcomeOfAll(g *arm.Graph) arm.Outcome {
	var out arm.Outcome
	for _, node := range g.Nodes() {
		out.Results = append(out.Results,
			arm.Result{ID: node.ID, State: arm.Ready, Owned: node.Policy != arm.Observe, Observed: json.RawMessage(`{}`)})
	}
	return out
}

func TestPruneWhenTheSpecShrinks(t *testing.T) {
	two, one := withSubnets("a", "b"), withSubnets("a")
	storeBefore(two, mustPlan(t, two))
	one.AzureCluster.Annotations = two.AzureCluster.Annotations
	g := mustPlan(t, one)
	var got []string
	for _, id := range cluster.LastApplied(one).ListPruned(g) {
		got = append(got, id.ShortName())
	}
	if diff := cmp.Diff([]string{"natGateways/b-nat", "publicIPAddresses/pip-b-nat", "routeTables/b-rt", "subnets/b"}, got); diff != "" {
		t.Error(diff)
	}
	if again := cluster.LastApplied(one).PathsBefore(g); again != nil {
		t.Errorf("all of it is stored, and nothing may be forgotten until the second subnet is gone: got %s", again)
	}

	storeAfter(one, g)
	if left := cluster.LastApplied(one).ListPruned(g); len(left) > 0 {
		t.Errorf("in place, and still to prune: %v", left)
	}
}

func TestPruneRulesOfOtherReleases(t *testing.T) {
	in := withSubnets("a")
	in.AzureCluster.Annotations["sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules"] = `{"a-nsg":{"gone":"was ours","kept":"is ours"}}`
	in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup.Name = "a-nsg"
	in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules = infrav1.SecurityRules{{Name: "kept"}}
	want := []string{"properties.securityRules[gone]"}
	if diff := cmp.Diff(want, ownedRules(t, in)); diff != "" {
		t.Error(diff)
	}
	storeBefore(in, mustPlan(t, in))
	if diff := cmp.Diff(want, ownedRules(t, in)); diff != "" {
		t.Errorf("the record of a rule stays until the rule is removed: %s", diff)
	}
	storeAfter(in, mustPlan(t, in))
	if left := ownedRules(t, in); len(left) > 0 {
		t.Errorf("a rule of that name that is created later belongs to another program, and would be removed: %v", left)
	}
}

func TestPruneRulesOfTheSpec(t *testing.T) {
	in := withSubnets("a")
	group := &in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup
	group.Name, group.SecurityRules = "a-nsg", infrav1.SecurityRules{{Name: "kept"}, {Name: "dropped"}}
	storeAfter(in, mustPlan(t, in))
	if got := ownedRules(t, in); len(got) > 0 {
		t.Errorf("no rule was dropped yet, got %v", got)
	}
	group.SecurityRules = group.SecurityRules[:1]
	if diff := cmp.Diff([]string{"properties.securityRules[dropped]"}, ownedRules(t, in)); diff != "" {
		t.Error(diff)
	}
	if got := cluster.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("a rule goes with the write of its group and needs no deletion of its own, got %v", got)
	}
}

// ownedRules returns the elements of the security group a-nsg that its next write removes.
func ownedRules(t *testing.T, in plan.ClusterInput) []string {
	t.Helper()
	g := mustPlan(t, in)
	cluster.LastApplied(in).AddRemovals(g)
	return g.Node("/subscriptions/s/resourceGroups/c/providers/Microsoft.Network/networkSecurityGroups/a-nsg").OwnedPaths
}

func TestPruneNeverTakesTheNetwork(t *testing.T) {
	in := withSubnets()
	in.AzureCluster.Annotations[infrav1.AppliedAnnotation] = `{"applied":{"other":[],"c/providers/Microsoft.Network/virtualNetworks/old":[],"no ID":[],"":[]}}`
	if got := cluster.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	in.AzureCluster.Annotations[infrav1.AppliedAnnotation] = `[`
	if got := cluster.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("an annotation that cannot be read deleted %v", got)
	}
}

// TestDroppedPartsOfALoadBalancer takes a port and a frontend out of the spec: the node of the load balancer owns them
// until all of the plan is in place, so that the next write takes them out, and nothing is deleted as a resource.
func TestDroppedPartsOfALoadBalancer(t *testing.T) {
	in := withSubnets()
	lb := &infrav1.LoadBalancerSpec{Name: "lb",
		FrontendIPs: []infrav1.FrontendIP{{Name: "one", PublicIP: &infrav1.PublicIPSpec{Name: "ip-1"}},
			{Name: "two", PublicIP: &infrav1.PublicIPSpec{Name: "ip-2"}}}}
	in.AzureCluster.Spec.NetworkSpec.APIServerLB = lb
	in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "kept", Port: 1000},
		{Name: "dropped", Port: 2000}}
	storeAfter(in, mustPlan(t, in))
	id := plan.LoadBalancerID(in, "lb")
	before := mustPlan(t, in).Node(id).OwnedPaths

	lb.FrontendIPs = lb.FrontendIPs[:1]
	in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts = in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts[:1]
	g := mustPlan(t, in)
	want := append(slices.Clone(before), "properties.frontendIPConfigurations[two]", "properties.loadBalancingRules[dropped]")
	if diff := cmp.Diff(want, g.Node(id).OwnedPaths); diff != "" {
		t.Errorf("owned paths (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]arm.ID{plan.PublicIPID(in, "ip-2")}, cluster.LastApplied(in).ListPruned(g)); diff != "" {
		t.Errorf("only the address is a resource to delete (-want +got):\n%s", diff)
	}
	storeBefore(in, g)
	if diff := cmp.Diff(want, mustPlan(t, in).Node(id).OwnedPaths); diff != "" {
		t.Errorf("until all is in place nothing is forgotten (-want +got):\n%s", diff)
	}
	storeAfter(in, g)
	if diff := cmp.Diff(before, mustPlan(t, in).Node(id).OwnedPaths); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
}

// TestDroppedServiceEndpoints takes an endpoint out of the spec: its subnet owns it until all of the plan is in place, so that
// the next write removes it. Endpoints that no plan had belong to others and stay.
func TestDroppedServiceEndpoints(t *testing.T) {
	in := withSubnets("a")
	subnet := &in.AzureCluster.Spec.NetworkSpec.Subnets[0]
	before := mustPlan(t, in).Node(plan.SubnetID(in, "a")).OwnedPaths
	subnet.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage"}, {Service: "Microsoft.Sql"}}
	storeAfter(in, mustPlan(t, in))
	if diff := cmp.Diff(before, mustPlan(t, in).Node(plan.SubnetID(in, "a")).OwnedPaths); diff != "" {
		t.Errorf("nothing was dropped yet (-want +got):\n%s", diff)
	}
	subnet.ServiceEndpoints = subnet.ServiceEndpoints[:1]
	g := mustPlan(t, in)
	want := append(slices.Clone(before), "properties.serviceEndpoints[Microsoft.Sql]")
	if diff := cmp.Diff(want, g.Node(plan.SubnetID(in, "a")).OwnedPaths); diff != "" {
		t.Errorf("owned paths (-want +got):\n%s", diff)
	}
	if got := cluster.LastApplied(in).ListPruned(g); len(got) > 0 {
		t.Errorf("an endpoint is no resource to delete, got %v", got)
	}
	storeAfter(in, g)
	if diff := cmp.Diff(before, mustPlan(t, in).Node(plan.SubnetID(in, "a")).OwnedPaths); diff != "" {
		t.Errorf("in place (-want +got):\n%s", diff)
	}
}

// TestDroppedAttachment takes the NAT gateway off a subnet in the spec: the subnet owns the property until Azure has
// removed it. A gateway that no plan attached belongs to others and stays.
func TestDroppedAttachment(t *testing.T) {
	in := withSubnets("a", "b")
	subnets := in.AzureCluster.Spec.NetworkSpec.Subnets
	subnets[1].NatGateway = subnets[0].NatGateway
	storeAfter(in, mustPlan(t, in))
	owned := func() []string { return mustPlan(t, in).Node(plan.SubnetID(in, "b")).OwnedPaths }
	if got := owned(); len(got) > 0 {
		t.Errorf("nothing was dropped yet, got %v", got)
	}
	subnets[1].NatGateway.Name = ""
	if diff := cmp.Diff([]string{"properties.natGateway"}, owned()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := cluster.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("the other subnet has the gateway, got %v", got)
	}
	storeAfter(in, mustPlan(t, in))
	if got := owned(); len(got) > 0 {
		t.Errorf("in place, and still %v", got)
	}
}

// TestReplacedGatewayAddress gives a NAT gateway another address: the old one is taken off before it is deleted.
func TestReplacedGatewayAddress(t *testing.T) {
	in := withSubnets("a")
	storeAfter(in, mustPlan(t, in))
	old := plan.PublicIPID(in, "pip-a-nat")
	in.AzureCluster.Spec.NetworkSpec.Subnets[0].NatGateway.NatGatewayIP.Name = "other"
	g := mustPlan(t, in)
	if diff := cmp.Diff([]string{"properties.publicIpAddresses[" + string(old) + "]"},
		g.Node(plan.NATGatewayID(in, "a-nat")).OwnedPaths); diff != "" {
		t.Errorf("owned paths (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]arm.ID{old}, cluster.LastApplied(in).ListPruned(g)); diff != "" {
		t.Error(diff)
	}
}

// TestAddressRanges keeps the address ranges that others added to the network, and removes those that an earlier spec
// had.
func TestAddressRanges(t *testing.T) {
	in := withSubnets()
	in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "172.16.0.0/12"}
	storeAfter(in, mustPlan(t, in))
	in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8"}
	in.Facts.VNet = plan.VNetFact{Exists: true, Owned: true, AddressPrefixes: []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"}}
	var got []string
	for _, prefix := range mustPlan(t, in).Node(plan.VNetID(in)).Body.(armnetwork.VirtualNetwork).Properties.AddressSpace.AddressPrefixes {
		got = append(got, *prefix)
	}
	if diff := cmp.Diff([]string{"10.0.0.0/8", "192.168.0.0/16"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPrunedResourcesKeepTheirCondition makes sure that whatever a plan has reports into the same condition when it is to go.
func TestPrunedResourcesKeepTheirCondition(t *testing.T) {
	for _, path := range []string{"everything-public", "everything-private", "dual-stack", "bastion-and-private-endpoints"} {
		for _, node := range mustPlan(t, readGoldenInput(t, path)).Nodes() {
			if got := cluster.ConditionForPruned(node.ID); got != node.Group && node.ID.Type() != types.ResourceGroup &&
				node.ID.Type() != types.VirtualNetwork {
				t.Errorf("%s reports into %q and when it goes into %q", node.ID, node.Group, got)
			}
		}
	}
}

// readGoldenInput returns the input of a golden case.
func readGoldenInput(t *testing.T, name string) plan.ClusterInput {
	t.Helper()
	raw, err := os.ReadFile("../testdata/" + name + ".in.yaml")
	if err != nil {
		t.Fatal(err)
	}
	in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{}}
	for _, document := range strings.Split(string(raw), "\n---\n") {
		if strings.Contains(document, "kind: AzureCluster\n") {
			if err := yaml.Unmarshal([]byte(document), in.AzureCluster); err != nil {
				t.Fatal(err)
			}
		}
	}
	return in
}
