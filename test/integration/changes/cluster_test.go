package changes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const networkVersion = "2024-05-01"

// fillRemovableFields adds to a spec everything that can go later: two of each.
func fillRemovableFields(stage *harness.Stage, spec *infrav1.AzureClusterSpec) {
	network := &spec.NetworkSpec
	rule := func(name string, priority int32, port string) infrav1.SecurityRule {
		return infrav1.SecurityRule{Name: name, Description: name, Protocol: infrav1.SecurityGroupProtocolTCP,
			Direction: infrav1.SecurityRuleDirectionInbound,
			Priority:  priority, Source: new("*"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new(port),
			Action: infrav1.SecurityRuleActionAllow}
	}
	endpoint := func(name string) infrav1.PrivateEndpointSpec {
		return infrav1.PrivateEndpointSpec{Name: name, PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
			Name: name, GroupIDs: []string{"blob"},
			PrivateLinkServiceID: "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/hub/providers/Microsoft.Storage/storageAccounts/" + name}}}
	}
	node := func(name, cidr string) infrav1.SubnetSpec {
		return infrav1.SubnetSpec{
			SubnetClassSpec: infrav1.SubnetClassSpec{Name: name, Role: infrav1.SubnetNode, CIDRBlocks: []string{cidr}},
			SecurityGroup:   infrav1.SecurityGroup{Name: name + "-nsg"}, RouteTable: infrav1.RouteTable{Name: name + "-rt"},
			NatGateway: infrav1.NatGateway{NatGatewayClassSpec: infrav1.NatGatewayClassSpec{Name: name + "-nat"}},
		}
	}
	network.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "konnectivity", Port: 8132}, {Name: "other", Port: 9345}}
	network.Vnet.CIDRBlocks = []string{"10.0.0.0/8"}
	network.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "hub",
		RemoteVnetName: "hub-1"}}, {VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{ResourceGroup: "hub", RemoteVnetName: "hub-2"}}}
	network.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.0.0.0/16"}}},
		node("nodes-1", "10.1.0.0/16"), node("nodes-2", "10.2.0.0/16"),
	}
	network.Subnets[1].SecurityGroup.SecurityRules = infrav1.SecurityRules{rule("kept", 300, "1000"), rule("dropped", 301, "1001")}
	network.Subnets[1].ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage", Locations: []string{"eastus"}},
		{Service: "Microsoft.Sql", Locations: []string{"*"}}}
	network.Subnets[1].PrivateEndpoints = infrav1.PrivateEndpoints{endpoint("pe-1"), endpoint("pe-2")}
	network.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(3))}
	spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{}
	spec.AdditionalTags = infrav1.Tags{"team": "red", "phase": "test"}
}

// TestClusterShrinks removes one of each kind from the spec of a cluster, and the provider deletes the resource from Azure. A resource
// still in use stays until its last use ends, and the condition names its user.
func TestClusterShrinks(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutNetwork("hub", "hub-1", "172.16.0.0/16", nil)
	stage.Azure.PutNetwork("hub", "hub-2", "172.17.0.0/16", nil)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	fillRemovableFields(stage, &azureCluster.Spec)
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	machine := stage.AzureMachine("c1", "m1")
	machine.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{SubnetName: "nodes-2"}}
	stage.CreateMachine(machine, harness.Worker, "")
	stage.WaitMachineProvisioned("m1")

	t.Cleanup(func() {
		if t.Failed() {
			got := &infrav1.AzureCluster{}
			stage.ReadObject(got, "c1")
			t.Logf("annotations %v status %s", got.Annotations, harness.EncodeStatus(got))
		}
	})
	change := func(f func(*infrav1.AzureClusterSpec)) {
		t.Helper()
		harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			func(c *infrav1.AzureCluster) { f(&c.Spec) })
	}
	subnet := func(spec *infrav1.AzureClusterSpec, name string) *infrav1.SubnetSpec {
		i := slices.IndexFunc(spec.NetworkSpec.Subnets, func(s infrav1.SubnetSpec) bool { return s.Name == name })
		return &spec.NetworkSpec.Subnets[i]
	}
	get := func(path string) map[string]any {
		_, resource := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/"+path, networkVersion)
		return resource
	}
	steps := []struct {
		name   string
		change func(spec *infrav1.AzureClusterSpec)
		// gone are the resources that are deleted, left returns the part that stays of a resource that is not deleted.
		gone []string
		left func() []string
		want []string
	}{
		{
			name: "additional port",
			change: func(spec *infrav1.AzureClusterSpec) {
				spec.NetworkSpec.AdditionalAPIServerLBPorts = spec.NetworkSpec.AdditionalAPIServerLBPorts[:1]
			},
			left: func() []string { return listNames(get("loadBalancers/c1-public-lb"), "loadBalancingRules") },
			want: []string{"LBRuleHTTPS", "konnectivity"},
		},
		{
			name:   "additional port that is another one",
			change: func(spec *infrav1.AzureClusterSpec) { spec.NetworkSpec.AdditionalAPIServerLBPorts[0].Name = "renamed" },
			left:   func() []string { return listNames(get("loadBalancers/c1-public-lb"), "loadBalancingRules") },
			want:   []string{"LBRuleHTTPS", "renamed"},
		},
		{
			name: "security rule",
			change: func(spec *infrav1.AzureClusterSpec) {
				group := &subnet(spec, "nodes-1").SecurityGroup
				group.SecurityRules = group.SecurityRules[:1]
			},
			left: func() []string { return listNames(get("networkSecurityGroups/nodes-1-nsg"), "securityRules") },
			want: []string{"kept"},
		},
		{
			name: "service endpoint",
			change: func(spec *infrav1.AzureClusterSpec) {
				subnet(spec, "nodes-1").ServiceEndpoints = subnet(spec, "nodes-1").ServiceEndpoints[:1]
			},
			left: func() []string {
				return listValues(get("virtualNetworks/c1-vnet/subnets/nodes-1"), "serviceEndpoints", "service")
			},
			want: []string{"Microsoft.Storage"},
		},
		{
			name: "private endpoint",
			change: func(spec *infrav1.AzureClusterSpec) {
				subnet(spec, "nodes-1").PrivateEndpoints = subnet(spec, "nodes-1").PrivateEndpoints[:1]
			},
			gone: []string{"privateEndpoints/pe-2"},
		},
		{
			name: "peering",
			change: func(spec *infrav1.AzureClusterSpec) {
				spec.NetworkSpec.Vnet.Peerings = spec.NetworkSpec.Vnet.Peerings[:1]
			},
			gone: []string{"virtualNetworks/c1-vnet/virtualNetworkPeerings/c1-vnet-To-hub-2",
				"virtualNetworks/hub-2/virtualNetworkPeerings/hub-2-To-c1-vnet"},
		},
		{
			name:   "outbound addresses",
			change: func(spec *infrav1.AzureClusterSpec) { spec.NetworkSpec.NodeOutboundLB.FrontendIPsCount = new(int32(2)) },
			gone:   []string{"publicIPAddresses/pip-c1-node-outbound-3"},
			left:   func() []string { return listNames(get("loadBalancers/c1"), "frontendIPConfigurations") },
			want:   []string{"c1-frontEnd-1", "c1-frontEnd-2"},
		},
		{
			name:   "bastion host",
			change: func(spec *infrav1.AzureClusterSpec) { spec.BastionSpec.AzureBastion = nil },
			gone: []string{"bastionHosts/c1-azure-bastion", "publicIPAddresses/c1-azure-bastion-pip",
				"virtualNetworks/c1-vnet/subnets/AzureBastionSubnet"},
		},
	}
	for _, step := range steps {
		for _, gone := range step.gone {
			if !networkResourceExists(stage, gone) {
				t.Fatalf("%s: there is no %s", step.name, gone)
			}
		}
		change(step.change)
		stage.Eventually(step.name+" is taken out of Azure", func() bool {
			return !slices.ContainsFunc(step.gone, func(gone string) bool { return networkResourceExists(stage, gone) }) &&
				(step.left == nil || cmp.Equal(step.want, step.left()))
		})
		harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order again after "+step.name,
			func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) })
	}

	// The second node subnet has a machine.
	change(func(spec *infrav1.AzureClusterSpec) {
		spec.NetworkSpec.Subnets = slices.DeleteFunc(spec.NetworkSpec.Subnets, func(s infrav1.SubnetSpec) bool { return s.Name == "nodes-2" })
	})
	inUse := harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "with a condition that the subnet is in use",
		func(c *infrav1.AzureCluster) bool {
			return strings.Contains(harness.FindCondition(c, infrav1.SubnetsReadyCondition).Message, "m1-nic")
		})
	t.Log(harness.FindCondition(inUse, infrav1.SubnetsReadyCondition).Message)
	stage.DeleteMachine("m1")
	stage.Eventually("the subnet goes with its security group, route table, NAT gateway and address", func() bool {
		stage.AdvanceClock(time.Minute)
		return !slices.ContainsFunc(stage.Azure.ListResources(), func(r string) bool { return strings.Contains(r, "nodes-2") })
	})

	change(func(spec *infrav1.AzureClusterSpec) { spec.AdditionalTags = infrav1.Tags{"team": "blue"} })
	stage.Eventually("tags change everywhere, and the dropped one goes", func() bool {
		for _, resource := range stage.Azure.State() {
			tags, _ := resource["tags"].(map[string]any)
			if tags[infrav1.ClusterTagKey("c1")] == infrav1.TagOwned && tags[infrav1.RoleTag] != infrav1.RoleBastion &&
				(tags["team"] != "blue" || tags["phase"] != nil) {
				return false
			}
		}
		return true
	})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order", func(c *infrav1.AzureCluster) bool {
		return harness.IsReady(c) && !strings.Contains(c.Annotations[infrav1.AppliedAnnotation], "phase")
	})
	stage.DeleteCluster("c1")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}

// networkResourceExists reports whether a resource of Microsoft.Network exists, in the cluster's group or in that of the peered networks.
func networkResourceExists(stage *harness.Stage, path string) bool {
	stage.T.Helper()
	group := "c1"
	if strings.HasPrefix(path, "virtualNetworks/hub") {
		group = "hub"
	}
	status, _ := stage.Azure.GetResource("resourceGroups/"+group+"/providers/Microsoft.Network/"+path, networkVersion)
	return status == 200
}

// listNames returns the names of the elements of a list of properties, sorted.
func listNames(resource map[string]any, list string) []string {
	return listValues(resource, list, "name")
}

func listValues(resource map[string]any, list, key string) []string {
	properties, _ := resource["properties"].(map[string]any)
	elements, _ := properties[list].([]any)
	var out []string
	for _, element := range elements {
		name, _ := element.(map[string]any)[key].(string)
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
