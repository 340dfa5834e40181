package plan_test

import (
	"cmp"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
)

const group = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/"

func TestClusterCheck(t *testing.T) {
	tests := map[string]struct {
		reason string
		from   string
		change func(in *plan.ClusterInput)
		want   []string
	}{
		"network exists and is ours": {reason: "the usual case",
			change: func(in *plan.ClusterInput) { in.Facts.VNet = plan.VNetFact{Exists: true, Owned: true} }},
		"tags": {reason: "Azure takes 50 on a resource, three of which are the provider's",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.AdditionalTags = fieldtest.NewTags(47) }},
		"too many tags": {reason: "Azure refuses the first resource with them",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.AdditionalTags = fieldtest.NewTags(48) },
			want:   []string{"spec.additionalTags: Invalid value: 51: tags on resources of the cluster ... more than the 50 ... remove 1"}},
		"too many tags of a group": {reason: "Azure refuses the group", change: func(in *plan.ClusterInput) {
			in.AzureCluster.Spec.AdditionalTags = map[string]string{"more": "", "N1": ""}
			in.AzureCluster.Spec.NetworkSpec.Subnets[1].SecurityGroup.Tags = fieldtest.NewTags(48)
		}, want: []string{"spec.networkSpec.subnets[1].securityGroup.tags: Invalid value: 51: tags on security group"}},
		"network to be made": {reason: "an absent network in another group is created", from: "network-other-group"},
		"network was ours": {reason: "a controller wrote the ID back; a network deleted by accident is made again",
			from: "everything-public"},
		"subnets of an own network": {reason: "its subnets are planned, not found to overlap themselves",
			change: withOwnedNetwork("node-subnet", "10.1.0.0/16")},
		"brought subnet by default": {reason: "users who bring subnets leave their ranges out, and defaulting fills them in",
			from: "brought-network", change: withBYOSubnet("node-subnet", "10.77.0.0/24")},
		"one subnet role for all": {reason: "the role cluster is enough", from: "one-subnet"},
		"rules of two subnets agree": {reason: "subnets share a security group and its rules", from: "two-node-subnets-custom-rules",
			change: withSameRules},
		"network does not exist": {
			reason: "with spec.networkSpec.vnet.id the user brings the network",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.ID = group + "c1/providers/Microsoft.Network/virtualNetworks/c1-vnet"
			},
			want: []string{`spec.networkSpec.vnet.name ... "c1-vnet" ... does not exist in resource group "c1" ... create it, correct the name or group, or remove spec.networkSpec.vnet.id`},
		},
		"network of another region": {
			reason: "Azure answers InvalidResourceReference once the first machine is made",
			from:   "brought-network",
			change: inRegion("northeurope"),
			want:   []string{`spec.networkSpec.vnet: Invalid value: "c1-vnet": is in region northeurope, and spec.location is westus2 ... choose a network in westus2, or set spec.location to northeurope`},
		},
		"brought network of the region": {reason: "Azure compares regions without case and blanks", from: "brought-network",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.Location = "West US 2"
				inRegion("westus2")(in)
			}},
		"network of subnets does not exist": {
			reason: "with an ID of a subnet, too",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].ID = group + "c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/node-subnet"
			},
			want: []string{"spec.networkSpec.vnet.name ... remove spec.networkSpec.subnets[1].id"},
		},
		"ID leads elsewhere": {
			reason: "a security group of another group would be ignored",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].SecurityGroup.ID = group + "other/providers/Microsoft.Network/networkSecurityGroups/c1-node-nsg"
			},
			want: []string{"spec.networkSpec.subnets[1].securityGroup.id ... resourceGroups/other ... is not " + group + "c1/"},
		},
		"subnet outside of the network": {
			reason: "Azure answers NetcfgSubnetRangeOutsideVnet after the network is made",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/16"}
			},
			want: []string{
				`spec.networkSpec.subnets[1].cidrBlocks[0] ... "10.1.0.0/16" ... is not within the network "c1-vnet", which has 10.0.0.0/16`},
		},
		"subnet larger than the network": {
			reason: "its first address is inside, its last is not",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/16", "10.1.0.0/24"}
			},
			want: []string{"spec.networkSpec.subnets[1].cidrBlocks[0] ... is not within"},
		},
		"new subnet outside of a brought network": {
			reason: "the ranges in Azure count, not the default of the spec",
			from:   "brought-network-other-group",
			change: func(in *plan.ClusterInput) { in.Facts.VNet.AddressPrefixes = []string{"10.0.0.0/16"} },
			want:   []string{"spec.networkSpec.subnets[1].cidrBlocks[0] ... is not within"},
		},
		"subnets overlap": {
			reason: "Azure answers NetcfgSubnetRangesOverlap for the second one",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].CIDRBlocks = []string{"10.0.128.0/17"}
			},
			want: []string{
				`spec.networkSpec.subnets[1].cidrBlocks[0] ... "10.0.128.0/17" ... overlaps 10.0.0.0/16 of subnet "control-plane-subnet"`},
		},
		"overlap with an existing subnet": {
			reason: "a subnet of others in a brought network",
			from:   "brought-network-other-group",
			change: func(in *plan.ClusterInput) { in.Facts.VNet.Subnets["others"] = []string{"10.1.4.0/24"} },
			want:   []string{`spec.networkSpec.subnets[1].cidrBlocks[0] ... overlaps 10.1.4.0/24 of subnet "others"`},
		},
		"brought subnet has another range": {
			reason: "the ranges of subnets that exist are Azure's, and the spec of an installer has its own",
			from:   "brought-network",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].CIDRBlocks = []string{"10.7.0.0/16"}
			},
		},
		"bare name in the ID of a brought network": {
			reason: "an installer writes the name of the network there",
			from:   "brought-network",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.Vnet.ID = "c1-vnet" },
		},
		"marker in the ID of a subnet": {
			reason: "it asks for no NAT gateway, and names nothing that has to exist",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.Subnets[1].ID = "UNKNOWN" },
		},
		"ID of another subnet": {
			reason: "an ID that differs from the names would be ignored",
			from:   "brought-network",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].ID = group + "c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/others"
			},
			want: []string{"spec.networkSpec.subnets[1].id ... subnets/others ... is not " + group + "c1/"},
		},
		"no CIDR block": {
			reason: "typing errors",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[0].CIDRBlocks = []string{"10.0.0.0"}
			},
			want: []string{"spec.networkSpec.subnets[0].cidrBlocks[0] ... is not a CIDR block"},
		},
		"network without a CIDR block": {
			reason: "subnets are not blamed for it",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"ten"} },
			want:   []string{"spec.networkSpec.vnet.cidrBlocks[0] ... is not a CIDR block"},
		},
		"subnet without a range": {
			reason: "nothing to make it of",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.Subnets[0].CIDRBlocks = nil },
			want:   []string{"spec.networkSpec.subnets[0].cidrBlocks ... set the address range"},
		},
		"subnets of one name": {
			reason: "Azure compares without case",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].Name = "Control-Plane-Subnet"
			},
			want: []string{"spec.networkSpec.subnets[1].name: Duplicate value"},
		},
		"no subnet for the control plane": {
			reason: "its machines have nowhere to go",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets = in.AzureCluster.Spec.NetworkSpec.Subnets[1:]
			},
			want: []string{"spec.networkSpec.subnets: Required value: the cluster has no subnet with the role control-plane or cluster: add one"},
		},
		"private address outside of the subnet": {
			reason: "the default does not fit a brought subnet",
			from:   "brought-network-private",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs[0].PrivateIPAddress = "10.0.0.100"
			},
			want: []string{`spec.networkSpec.apiServerLB.frontendIPs[0].privateIP ... "10.0.0.100" ... not within the subnet "control-plane-subnet" ... 10.40.0.0/16`},
		},
		"private address that Azure keeps": {
			reason: "Azure answers PrivateIPAddressInReservedRange",
			from:   "private",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs[0].PrivateIPAddress = "10.0.0.3"
			},
			want: []string{"spec.networkSpec.apiServerLB.frontendIPs[0].privateIP ... Azure keeps the first four addresses"},
		},
		"last address of the subnet": {
			reason: "it is the broadcast address",
			from:   "private",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs[0].PrivateIPAddress = "10.0.255.255"
			},
			want: []string{"and the last one of 10.0.0.0/16"},
		},
		"no private address": {
			reason: "an internal load balancer needs one",
			from:   "private",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs = nil },
			want:   []string{"spec.networkSpec.apiServerLB.frontendIPs: Required value"},
		},
		"zones in a region without": {
			reason: "Azure answers ZonesNotAllowed",
			from:   "private",
			change: func(in *plan.ClusterInput) { in.Facts.Zones = nil },
			want: []string{
				"spec.networkSpec.apiServerLB.availabilityZones[0] ... region westus2 has no availability zones",
				"spec.networkSpec.apiServerLB.availabilityZones[1] ... region westus2 has no availability zones",
			},
		},
		"zone that the region lacks": {
			reason: "the message names those it has",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) { in.Facts.Zones = []string{"2", "3"} },
			want:   []string{`spec.networkSpec.subnets[1].natGateway.zones[0] ... "1" ... choose from 2, 3`},
		},
		"NAT gateway in two zones": {
			reason: "Azure answers with an error; a gateway is in one zone or in none",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].NatGateway.Zones = []string{"1", "2"}
			},
			want: []string{"spec.networkSpec.subnets[1].natGateway.zones ... in one zone or in none"},
		},
		"priority of a default rule": {
			reason: "allow_ssh has 2200, and the spec's rule is not for port 22 alone",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules[0].DestinationPorts = new("22-23")
			},
			want: []string{`priority ... 2200 ... rule "allow_ssh" has the priority of rule "no_ssh"`},
		},
		"rule without a source": {
			reason: "Azure answers SecurityRuleParameterMissing; open to the world is not a default",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].SecurityGroup.SecurityRules[0].Sources = nil
			},
			want: []string{`spec.networkSpec.subnets[1].securityGroup.securityRules[0].source: Required value ... rule "allow_nodeport" must set it; use "*"`},
		},
		"rules of two subnets differ": {
			reason: "one of them would be lost",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) {
				withSameRules(in)
				in.AzureCluster.Spec.NetworkSpec.Subnets[2].SecurityGroup.SecurityRules[0].Priority = 301
			},
			want: []string{`spec.networkSpec.subnets[2].securityGroup.securityRules[0].name ... differs from the rule of the same name in spec.networkSpec.subnets[1]`},
		},
		"port of the API server": {
			reason: "two rules on one frontend port",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts[1] = infrav1.LoadBalancerPort{Name: "lbrulehttps", Port: 6443}
			},
			want: []string{"additionalAPIServerLBPorts[1].name: Duplicate value", "additionalAPIServerLBPorts[1].port: Duplicate value: 6443"},
		},
		"backend port of the API server": {
			reason: "Azure answers RulesUseSameBackendPortProtocolAndPool",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "api.example", Port: 443}
				in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts[1].Port = 6443
			},
			want: []string{"additionalAPIServerLBPorts[1].port: Invalid value: 6443: port 443 already leads to this port"},
		},
		"frontend port of the API server": {
			reason: "two rules on one frontend port",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "api.example", Port: 443}
				in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts[1].Port = 443
			},
			want: []string{"additionalAPIServerLBPorts[1].port: Duplicate value: 443"},
		},
		"port of SSH": {
			reason: "Azure answers RulesUseSameBackendPortProtocolAndIPConfig for the interface of a machine",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts[1].Port = 22 },
			want:   []string{"additionalAPIServerLBPorts[1].port: Invalid value: 22: a public API server load balancer has a rule for SSH"},
		},
		"peering with itself": {
			reason: "Azure refuses it",
			from:   "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings[1].RemoteVnetName = "c1-vnet"
			},
			want: []string{"spec.networkSpec.vnet.peerings[1].remoteVnetName ... is the cluster's own network"},
		},
		"peering with a long name": {
			reason: "Azure answers InvalidResourceName after the subnets are made",
			from:   "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings[0].RemoteVnetName = strings.Repeat("n", 81-len(plan.VNetName(*in)+"-To-"))
			},
			want: []string{"spec.networkSpec.vnet.peerings[0].remoteVnetName ... <network>-To-<other network>. This one has 81 characters ... at most 80: set spec.networkSpec.vnet.name"},
		},
		"peered networks of one name": {
			reason: "peerings and DNS links are called by the name alone",
			from:   "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				peerings := in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings
				peerings[1].RemoteVnetName, peerings[1].ResourceGroup = "HUB", peerings[0].ResourceGroup
			},
			want: []string{"spec.networkSpec.vnet.peerings[1].remoteVnetName: Duplicate value"},
		},
		"peered networks of one name in two groups": {
			reason: "the names of peerings do not contain the group",
			from:   "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings[1].RemoteVnetName = "HUB"
				in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings[1].ResourceGroup = "another"
			},
			want: []string{`spec.networkSpec.vnet.peerings[1].remoteVnetName ... "HUB" ... has a peering ... remove one of the two`},
		},
		"label of the API server": {
			reason: "Azure refuses a label that starts with a digit, after the network was created",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) { in.Cluster.Name = "1prod" },
			want:   []string{`spec.networkSpec.apiServerLB.frontendIPs[0].publicIP.dnsName ... Azure refuses the label "1prod- ... starts with a letter`},
		},
		"long label of the API server": {
			reason: "the name of a Cluster may have 63 characters, and the label has a hash, too",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) { in.Cluster.Name = strings.Repeat("a", 60) },
			want:   []string{`spec.networkSpec.apiServerLB.frontendIPs[0].publicIP.dnsName ... a label has 3 to 63`},
		},
		"label without a domain": {
			reason: "the endpoint would be the label, which no resolver knows",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) { apiServerIP(in).DNSName = "my-api" },
			want:   []string{`spec.networkSpec.apiServerLB.frontendIPs[0].publicIP.dnsName ... "my-api" ... set it to <label>.westus2.cloudapp.azure.com`},
		},
		"label in another region": {
			reason: "Azure registers the label in the region of the address",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) { apiServerIP(in).DNSName = "my-api.eastus.cloudapp.azure.com" },
			want:   []string{`spec.networkSpec.apiServerLB.frontendIPs[0].publicIP.dnsName ... set it to <label>.westus2.cloudapp.azure.com`},
		},
		"label of a NAT gateway": {
			reason: "Azure refuses it",
			from:   "two-node-subnets-custom-rules",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].NatGateway.NatGatewayIP.DNSName = "4u.westus2.cloudapp.azure.com"
			},
			want: []string{`spec.networkSpec.subnets[1].natGateway.ip.dnsName ... Azure refuses the label "4u"`},
		},
		"unknown failure domain": {
			reason: "a zone that the user excludes would be used",
			from:   "node-outbound",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.FailureDomains = map[string]infrav1.FailureDomainSpec{"westus2-1": {}, "1": {}}
			},
			want: []string{`spec.failureDomains[westus2-1] ... is not an availability zone of region westus2: choose from`},
		},
		"private endpoints of one name": {
			reason: "they are in one resource group",
			from:   "bastion-and-private-endpoints",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.Subnets[1].PrivateEndpoints[1].Name = "storage"
			},
			want: []string{"spec.networkSpec.subnets[1].privateEndpoints[1].name: Duplicate value"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInputOr(t, test.from, "default").ClusterInput
			if test.change != nil {
				test.change(&in)
			}
			fieldtest.RequireRefusals(t, test.reason, cluster.CheckSpec(in), test.want)
		})
	}
}

// TestOtherSubscription sets each ID of the network to a resource of another subscription. The names and groups of the spec cannot lead there.
func TestOtherSubscription(t *testing.T) {
	type network = infrav1.NetworkSpec
	const hub = "/subscriptions/hub-subscription/resourceGroups/hub/providers/Microsoft.Network/"
	for name, test := range map[string]struct {
		field, id string
		set       func(*network, string)
	}{
		"network": {"vnet.id", "virtualNetworks/hub", func(n *network, id string) { n.Vnet.ID = id }},
		"subnet":  {"subnets[1].id", "virtualNetworks/hub/subnets/nodes", func(n *network, id string) { n.Subnets[1].ID = id }},
		"security group": {"subnets[1].securityGroup.id", "networkSecurityGroups/nodes",
			func(n *network, id string) { n.Subnets[1].SecurityGroup.ID = id }},
		"route table":                     {"subnets[1].routeTable.id", "routeTables/nodes", func(n *network, id string) { n.Subnets[1].RouteTable.ID = id }},
		"NAT gateway":                     {"subnets[1].natGateway.id", "natGateways/nodes", func(n *network, id string) { n.Subnets[1].NatGateway.ID = id }},
		"load balancer of the API server": {"apiServerLB.id", "loadBalancers/api", func(n *network, id string) { n.APIServerLB.ID = id }},
		"outbound load balancer": {"nodeOutboundLB.id", "loadBalancers/nodes", func(n *network, id string) {
			n.NodeOutboundLB = &infrav1.LoadBalancerSpec{ID: id}
		}},
		"outbound load balancer of the control plane": {"controlPlaneOutboundLB.id", "loadBalancers/control-plane", func(n *network, id string) {
			n.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{ID: id}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInputOr(t, "", "default").ClusterInput
			test.set(&in.AzureCluster.Spec.NetworkSpec, hub+test.id)
			got := ""
			for _, err := range cluster.CheckSpec(in) {
				if got += err.Error() + "\n"; strings.Contains(err.Detail, "remove") {
					t.Errorf("without the ID another resource would be created: %s", err)
				}
			}
			for _, want := range []string{"spec.networkSpec." + test.field + ": ", "is in subscription hub-subscription, and the provider uses network resources " +
				"of the cluster's subscription " + in.SubscriptionID + " only", "set spec.subscriptionID to hub-subscription"} {
				if !strings.Contains(got, want) {
					t.Errorf("%q lacks %q", got, want)
				}
			}
		})
	}
}

func readInputOr(t *testing.T, name, fallback string) plan.MachineInput {
	t.Helper()
	return readInput(t, cmp.Or(name, fallback))
}

func withOwnedNetwork(name string, blocks ...string) func(in *plan.ClusterInput) {
	return func(in *plan.ClusterInput) {
		in.Facts.VNet = plan.VNetFact{Exists: true, Owned: true, AddressPrefixes: []string{"10.0.0.0/8"},
			Subnets: map[string][]string{name: blocks}}
	}
}

func withBYOSubnet(name string, blocks ...string) func(in *plan.ClusterInput) {
	return func(in *plan.ClusterInput) { in.Facts.VNet.Subnets[name] = blocks }
}

func inRegion(region string) func(in *plan.ClusterInput) {
	return func(in *plan.ClusterInput) { in.Facts.VNet.Location = region }
}

// withSameRules gives the second node subnet the rules of the first.
func withSameRules(in *plan.ClusterInput) {
	subnets := in.AzureCluster.Spec.NetworkSpec.Subnets
	subnets[2].SecurityGroup.SecurityRules = subnets[1].SecurityGroup.DeepCopy().SecurityRules
}

func TestClusterUnsupported(t *testing.T) {
	tests := map[string]struct {
		reason string
		from   string
		change func(in *plan.ClusterInput)
		want   []string
	}{
		"default": {reason: "nothing to refuse"},
		"edge zone without its gate": {reason: "the gate is off by default", from: "edge-zone",
			change: func(in *plan.ClusterInput) { in.Features.EdgeZone = false },
			want:   []string{"spec.extendedLocation: Forbidden: needs the feature gate EdgeZone"}},
		"private frontend without its gate": {reason: "nothing would be made of it", from: "internal-beside-public",
			change: func(in *plan.ClusterInput) { in.Features.APIServerILB = false },
			want:   []string{"spec.networkSpec.apiServerLB.frontendIPs[1].privateIP: Forbidden ... feature gate APIServerILB"}},
		"basic load balancer": {reason: "Azure retired it",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.APIServerLB.SKU = "Basic" },
			want:   []string{`spec.networkSpec.apiServerLB.sku: Unsupported value: "Basic"`}},
		"two public frontends": {reason: "the API server has one address", change: func(in *plan.ClusterInput) {
			lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
			lb.FrontendIPs = append(lb.FrontendIPs, lb.FrontendIPs[0])
			lb.FrontendIPsCount = new(int32(2))
		}, want: []string{"apiServerLB.frontendIPsCount: Unsupported value: 2", "apiServerLB.frontendIPs: Too many"}},
		"public address of an internal load balancer": {reason: "it has private ones", from: "private", change: func(in *plan.ClusterInput) {
			in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs[0].PublicIP = &infrav1.PublicIPSpec{Name: "p"}
		}, want: []string{"apiServerLB.frontendIPs[0].publicIP: Forbidden"}},
		"internal outbound load balancer": {reason: "it leads out", from: "node-outbound",
			change: func(in *plan.ClusterInput) { in.AzureCluster.Spec.NetworkSpec.NodeOutboundLB.Type = infrav1.Internal },
			want:   []string{`nodeOutboundLB.type: Unsupported value: "Internal"`}},
		"outbound frontends do not follow their count": {reason: "one of the two would be ignored", from: "node-outbound",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.NodeOutboundLB.FrontendIPsCount = new(int32(3))
			}, want: []string{"nodeOutboundLB.frontendIPsCount: Invalid value: 3"}},
		"outbound load balancer of a public control plane": {reason: "no machine would use it", from: "private-outbound-peered-zone",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.APIServerLB = readInputOr(t, "default", "").AzureCluster.Spec.NetworkSpec.APIServerLB
			}, want: []string{"controlPlaneOutboundLB: Forbidden", "privateDNSZoneName: Forbidden", "privateDNSZoneResourceGroup: Forbidden"}},
		"NAT gateway of a bastion": {reason: "Azure refuses it", from: "bastion-and-private-endpoints", change: func(in *plan.ClusterInput) {
			in.AzureCluster.Spec.BastionSpec.AzureBastion.Subnet.NatGateway.Name = "n"
		}, want: []string{"spec.bastionSpec.azureBastion.subnet.natGateway: Forbidden"}},
		"ports without a load balancer": {reason: "the control plane is externally managed", from: "external-control-plane",
			change: func(in *plan.ClusterInput) {
				in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "a", Port: 1}}
			}, want: []string{"additionalAPIServerLBPorts: Forbidden"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInputOr(t, test.from, "default").ClusterInput
			if test.change != nil {
				test.change(&in)
			}
			fieldtest.RequireRefusals(t, test.reason, cluster.UnsupportedFields(in), test.want)
		})
	}
}

// apiServerIP returns the first public address of the API server.
func apiServerIP(in *plan.ClusterInput) *infrav1.PublicIPSpec {
	return in.AzureCluster.Spec.NetworkSpec.APIServerLB.FrontendIPs[0].PublicIP
}
