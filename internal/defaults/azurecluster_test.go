package defaults

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// names is the part of a defaulted AzureCluster that Azure resources are named by.
type names struct {
	Subnets    []subnetNames
	APIServer  *lbNames
	NodeOut    *lbNames
	ControlOut *lbNames
}

type subnetNames struct{ Name, CIDR, NSG, RouteTable, NAT, NATIP string }

type lbNames struct {
	Name, Pool string
	Type       infrav1.LBType
	Frontends  []string
}

func readNames(c *infrav1.AzureCluster) names {
	var out names
	for _, s := range c.Spec.NetworkSpec.Subnets {
		cidr := ""
		for _, block := range s.CIDRBlocks {
			cidr += block + " "
		}
		out.Subnets = append(out.Subnets,
			subnetNames{s.Name, cidr, s.SecurityGroup.Name, s.RouteTable.Name, s.NatGateway.Name, s.NatGateway.NatGatewayIP.Name})
	}
	lb := func(lb *infrav1.LoadBalancerSpec) *lbNames {
		if lb == nil {
			return nil
		}
		got := &lbNames{Name: lb.Name, Pool: lb.BackendPool.Name, Type: lb.Type}
		for _, f := range lb.FrontendIPs {
			address := f.PrivateIPAddress
			if f.PublicIP != nil {
				address = f.PublicIP.Name
			}
			got.Frontends = append(got.Frontends, f.Name+"="+address)
		}
		return got
	}
	out.APIServer = lb(c.Spec.NetworkSpec.APIServerLB)
	out.NodeOut = lb(c.Spec.NetworkSpec.NodeOutboundLB)
	out.ControlOut = lb(c.Spec.NetworkSpec.ControlPlaneOutboundLB)
	return out
}

func TestDefaultAzureClusterNames(t *testing.T) {
	publicLB := &lbNames{Name: "c1-public-lb", Pool: "c1-public-lb-backendPool", Type: infrav1.Public,
		Frontends: []string{"c1-public-lb-frontEnd=pip-c1-apiserver"}}
	controlPlane := subnetNames{"c1-controlplane-subnet", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""}

	for name, tc := range map[string]struct {
		reason string
		c      *infrav1.AzureCluster
		want   names
	}{
		"minimal": {
			reason: "subnets that are not listed have names without a number, and the NAT gateway has its public IP at once",
			c:      newCluster(),
			want: names{
				Subnets: []subnetNames{controlPlane,
					{"c1-node-subnet", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw", "pip-c1-node-natgw"}},
				APIServer: publicLB,
			},
		},
		"listed without names": {
			reason: "node subnets that are listed have names and ranges by their number among the node subnets",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
					{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetNode}},
					{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetControlPlane}},
					{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetNode}},
				}
			}),
			want: names{
				Subnets: []subnetNames{
					{"c1-node-subnet-1", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw-1", "pip-c1-node-natgw-1"},
					controlPlane,
					{"c1-node-subnet-2", "10.2.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw-2", "pip-c1-node-natgw-2"}},
				APIServer: publicLB,
			},
		},
		"cluster role": {
			reason: "a subnet for both roles serves both, so none is added",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetCluster}}}
			}),
			want: names{
				Subnets:   []subnetNames{{"c1-subnet", "10.0.0.0/16 ", "c1-nsg", "c1-routetable", "c1-natgw", "pip-c1-natgw"}},
				APIServer: publicLB,
			},
		},
		"cluster role with IPv6": {
			reason: "NAT gateways support IPv4 only, in subnets of every role",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetCluster,
					CIDRBlocks: []string{"10.0.0.0/16", "2001:db8::/64"}}}}
			}),
			want: names{
				Subnets:   []subnetNames{{"c1-subnet", "10.0.0.0/16 2001:db8::/64 ", "c1-nsg", "c1-routetable", "", ""}},
				APIServer: publicLB,
				NodeOut: &lbNames{Name: "c1", Pool: "c1-outboundBackendPool", Type: infrav1.Public,
					Frontends: []string{"c1-frontEnd=pip-c1-node-outbound"}},
			},
		},
		"nodes with IPv6": {
			reason: "nodes with IPv6 go out through a load balancer instead of a NAT gateway",
			c:      newCluster(func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16", "2001:db8::/64") }),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.1.0.0/16 2001:db8::/64 ", "c1-node-nsg", "c1-node-routetable", "", ""}},
				APIServer: publicLB,
				NodeOut: &lbNames{Name: "c1", Pool: "c1-outboundBackendPool", Type: infrav1.Public,
					Frontends: []string{"c1-frontEnd=pip-c1-node-outbound"}},
			},
		},
		"nodes with IPv6 and no control plane": {
			reason: "a load balancer for outbound connections is added beside a public API server load balancer only",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.ControlPlaneEnabled = false
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16", "2001:db8::/64")[1:]
				c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: "gone"}
			}),
			want: names{Subnets: []subnetNames{{"nodes", "10.1.0.0/16 2001:db8::/64 ", "c1-node-nsg", "c1-node-routetable", "", ""}}},
		},
		"existing subnet": {
			reason: "a subnet with an ID belongs to others and keeps its outbound connection",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[1].ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "", ""}},
				APIServer: publicLB,
			},
		},
		"marker instead of an ID": {
			reason: "an installer asks for no NAT gateway this way",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[1].ID = "UNKNOWN"
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "", ""}},
				APIServer: publicLB,
			},
		},
		"ID that was written later": {
			reason: "an ID in the spec takes no NAT gateway away that a plan had",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[1].ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
				c.Annotations = map[string]string{
					infrav1.AppliedAnnotation: `{"applied":{"c1/providers/Microsoft.Network/natGateways/c1-node-natgw-1":[]}}`}
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw-1", "pip-c1-node-natgw-1"}},
				APIServer: publicLB,
			},
		},
		"ID and a name that was stored": {
			reason: "the established provider stored the names of the NAT gateway before it wrote the ID",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[1].ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"
				c.Spec.NetworkSpec.Subnets[1].NatGateway.Name = "c1-node-natgw-1"
				c.Spec.NetworkSpec.Subnets[1].NatGateway.NatGatewayIP.Name = "pip-c1-node-natgw-1"
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw-1", "pip-c1-node-natgw-1"}},
				APIServer: publicLB,
			},
		},
		"two control-plane subnets": {
			reason: "each subnet keeps its settings, also where several have one role",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = append(newSubnets("10.2.0.0/16"), infrav1.SubnetSpec{
					SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp2", Role: infrav1.SubnetControlPlane, CIDRBlocks: []string{"10.3.0.0/16"}},
					RouteTable:      infrav1.RouteTable{Name: "own"},
				})
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "c1-node-routetable", "", ""},
					{"nodes", "10.2.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw-1", "pip-c1-node-natgw-1"},
					{"cp2", "10.3.0.0/16 ", "c1-controlplane-nsg", "own", "", ""}},
				APIServer: publicLB,
			},
		},
		"internal": {
			reason: "an internal load balancer has a private address; its pool for outbound connections is named after the default name of the " +
				"load balancer",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
				c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{Name: "own", FrontendIPsCount: new(int32(2))}
				c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{Name: "nodes", FrontendIPsCount: new(int32(0))}
			}),
			want: names{
				Subnets: []subnetNames{controlPlane,
					{"c1-node-subnet", "10.1.0.0/16 ", "c1-node-nsg", "c1-node-routetable", "c1-node-natgw", "pip-c1-node-natgw"}},
				APIServer: &lbNames{Name: "c1-internal-lb", Pool: "c1-internal-lb-backendPool", Type: infrav1.Internal,
					Frontends: []string{"c1-internal-lb-frontEnd=10.0.0.100"}},
				ControlOut: &lbNames{Name: "own", Pool: "c1-outbound-lb-outboundBackendPool", Type: infrav1.Public,
					Frontends: []string{"own-frontEnd-1=pip-c1-controlplane-outbound-1", "own-frontEnd-2=pip-c1-controlplane-outbound-2"}},
				NodeOut: &lbNames{Name: "nodes", Pool: "nodes-outboundBackendPool", Type: infrav1.Public},
			},
		},
		"custom names": {
			reason: "names that derive from other names follow the user's names",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[1].NatGateway.Name = "gateway"
				c.Spec.NetworkSpec.Subnets[1].RouteTable.Name = "routes"
				c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: "api"}
			}),
			want: names{
				Subnets: []subnetNames{
					{"cp", "10.0.0.0/16 ", "c1-controlplane-nsg", "routes", "", ""},
					{"nodes", "10.1.0.0/16 ", "c1-node-nsg", "routes", "gateway", "pip-gateway"}},
				APIServer: &lbNames{Name: "api", Pool: "api-backendPool", Type: infrav1.Public, Frontends: []string{"api-frontEnd=pip-c1-apiserver"}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			FillAzureCluster(tc.c)
			if diff := cmp.Diff(tc.want, readNames(tc.c)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			again := tc.c.DeepCopy()
			FillAzureCluster(again)
			if diff := cmp.Diff(mustMarshalJSON(t, tc.c), mustMarshalJSON(t, again)); diff != "" {
				t.Errorf("the second defaulting changes something: -first +second\n%s", diff)
			}
		})
	}
}

func TestDefaultAzureClusterRest(t *testing.T) {
	c := newCluster(func(c *infrav1.AzureCluster) {
		c.Spec.ResourceGroup = "rg"
		c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{}
		c.Spec.NetworkSpec.Vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{RemoteVnetName: "hub"}}}
		c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
		c.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules = infrav1.SecurityRules{{Name: "in"},
			{Name: "out", Direction: infrav1.SecurityRuleDirectionOutbound}}
	})
	FillAzureCluster(c)
	rules := c.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules
	bastion := c.Spec.BastionSpec.AzureBastion
	got := map[string]string{
		"environment":    c.Spec.AzureEnvironment,
		"vnet":           c.Spec.NetworkSpec.Vnet.Name + " " + c.Spec.NetworkSpec.Vnet.ResourceGroup + " " + c.Spec.NetworkSpec.Vnet.CIDRBlocks[0],
		"peering":        c.Spec.NetworkSpec.Vnet.Peerings[0].ResourceGroup,
		"bastion":        bastion.Name + " " + bastion.PublicIP.Name,
		"bastion subnet": bastion.Subnet.Name + " " + string(bastion.Subnet.Role) + " " + bastion.Subnet.CIDRBlocks[0],
		"directions":     string(rules[0].Direction) + " " + string(rules[1].Direction),
		"lb":             string(c.Spec.NetworkSpec.APIServerLB.SKU),
	}
	want := map[string]string{
		"environment":    "AzurePublicCloud",
		"vnet":           "c1-vnet rg 10.0.0.0/8",
		"peering":        "rg",
		"bastion":        "c1-azure-bastion c1-azure-bastion-pip",
		"bastion subnet": "AzureBastionSubnet bastion 10.255.255.192/26",
		"directions":     "Inbound Outbound",
		"lb":             "Standard",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := *c.Spec.NetworkSpec.APIServerLB.IdleTimeoutInMinutes; got != 4 {
		t.Errorf("idle timeout is %d minutes, want 4", got)
	}
	if diff := cmp.Diff("c1", newDefaulted().Spec.ResourceGroup); diff != "" {
		t.Errorf("the resource group has the name of the AzureCluster: -want +got\n%s", diff)
	}
}

func newDefaulted(changes ...func(*infrav1.AzureCluster)) *infrav1.AzureCluster {
	c := newCluster(changes...)
	FillAzureCluster(c)
	return c
}

func TestDefaultOutboundFrontendsAreBounded(t *testing.T) {
	c := newDefaulted(func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(1 << 30))}
	})
	if got := len(c.Spec.NetworkSpec.NodeOutboundLB.FrontendIPs); got != maxFrontends {
		t.Errorf("a billion frontends are rendered as %d, want %d, because the number is refused later", got, maxFrontends)
	}
}

func TestDefaultInternalAPIServerFrontend(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		c      *infrav1.AzureCluster
		want   []string
	}{
		"none": {
			reason: "the gate adds a private frontend behind the public one",
			c:      newCluster(),
			want:   []string{"c1-public-lb-frontEnd=pip-c1-apiserver", "c1-public-lb-frontEnd-internal-ip=10.0.0.100"},
		},
		"given": {
			reason: "a private frontend of the user is kept",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{FrontendIPs: []infrav1.FrontendIP{
					{Name: "public", PublicIP: &infrav1.PublicIPSpec{Name: "ip"}},
					{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.7"}}}}
			}),
			want: []string{"public=ip", "c1-public-lb-frontEnd-internal-ip=10.0.0.7"},
		},
		"elsewhere": {
			reason: "an address outside of the subnet would be refused, and with it every change of a cluster that works",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Role: infrav1.SubnetControlPlane,
					CIDRBlocks: []string{"10.9.0.0/16"}}}}
			}),
			want: []string{"c1-public-lb-frontEnd=pip-c1-apiserver"},
		},
		"internal": {
			reason: "an internal load balancer has its private frontend already",
			c: newCluster(func(c *infrav1.AzureCluster) {
				c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
			}),
			want: []string{"c1-internal-lb-frontEnd=10.0.0.100"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				FillAzureCluster(tc.c)
				FillInternalAPIServerFrontend(tc.c)
				if diff := cmp.Diff(tc.want, readNames(tc.c).APIServer.Frontends); diff != "" {
					t.Errorf("%s: -want +got\n%s", tc.reason, diff)
				}
			}
		})
	}
	disabled := newDefaulted(func(c *infrav1.AzureCluster) { c.Spec.ControlPlaneEnabled = false })
	FillInternalAPIServerFrontend(disabled)
	if lb := disabled.Spec.NetworkSpec.APIServerLB; lb != nil {
		t.Errorf("a cluster without a control plane has the load balancer %+v", lb)
	}
}

func TestDefaultAzureClusterTemplate(t *testing.T) {
	template := &infrav1.AzureClusterTemplate{}
	spec := &template.Spec.Template.Spec
	spec.BastionSpec.AzureBastion = &infrav1.AzureBastionTemplateSpec{}
	spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "2001:db8::/56"}
	spec.NetworkSpec.Subnets = infrav1.SubnetTemplatesSpec{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetNode},
			SecurityGroup: infrav1.SecurityGroupClass{SecurityRules: infrav1.SecurityRules{{Name: "in", Priority: 100}}}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "b", Role: infrav1.SubnetNode, CIDRBlocks: []string{"2001:db8::/64"}}},
	}
	FillAzureClusterTemplate(template)
	first := mustMarshalJSON(t, template)
	want := map[string]any{
		"environment": "AzurePublicCloud", "bastion": []string{"10.255.255.192/26"},
		"a": []string{"10.1.0.0/16"}, "subnets": 2, "direction": infrav1.SecurityRuleDirectionInbound,
		"type": infrav1.Public, "outbound": infrav1.Public,
	}
	got := map[string]any{
		"environment": spec.AzureEnvironment, "bastion": spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks,
		"a": spec.NetworkSpec.Subnets[0].CIDRBlocks, "subnets": len(spec.NetworkSpec.Subnets),
		"direction": spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules[0].Direction,
		"type":      spec.NetworkSpec.APIServerLB.Type, "outbound": spec.NetworkSpec.NodeOutboundLB.Type,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	FillAzureClusterTemplate(template)
	if diff := cmp.Diff(first, mustMarshalJSON(t, template)); diff != "" {
		t.Errorf("the second defaulting changes something: -first +second\n%s", diff)
	}
	empty := &infrav1.AzureClusterTemplate{}
	FillAzureClusterTemplate(empty)
	if diff := cmp.Diff([]string{"10.0.0.0/8"}, empty.Spec.Template.Spec.NetworkSpec.Vnet.CIDRBlocks); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
