package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const linkServiceID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateLinkServices/l"

// internal makes the API server load balancer an internal one.
func internal(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
}

func dualStack(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "2001:db8::/56"}
	c.Spec.NetworkSpec.Subnets = listed("10.1.0.0/16", "2001:db8::/64")
}

func TestValidateAzureCluster(t *testing.T) {
	type object = infrav1.AzureCluster
	firstSubnet := func(change func(*infrav1.SubnetSpec)) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.Subnets = listed("10.1.0.0/16")
			change(&c.Spec.NetworkSpec.Subnets[0])
		}
	}
	endpoint := func(change func(*infrav1.PrivateEndpointSpec)) func(*object) {
		return firstSubnet(func(s *infrav1.SubnetSpec) {
			e := infrav1.PrivateEndpointSpec{Name: "e", PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{PrivateLinkServiceID: linkServiceID}}}
			change(&e)
			s.PrivateEndpoints = infrav1.PrivateEndpoints{e}
		})
	}
	lb := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{}
			change(c.Spec.NetworkSpec.APIServerLB)
		}
	}

	for name, tc := range map[string]struct {
		reason   string
		changes  []func(*object)
		features plan.Features
		want     []string
	}{
		"minimal":         {reason: "what defaulting makes of the smallest spec is valid"},
		"name of 44":      {reason: "Azure names have room for 44 characters", changes: []func(*object){func(c *object) { c.Name = strings.Repeat("a", 44) }}},
		"name too long":   {reason: "derived Azure names would be too long", changes: []func(*object){func(c *object) { c.Name = strings.Repeat("a", 45) }}, want: []string{"metadata.name: FieldValueTooLong"}},
		"name with a dot": {reason: "Azure DNS labels have no dots", changes: []func(*object){func(c *object) { c.Name = "a.b" }}, want: []string{"metadata.name: FieldValueInvalid"}},
		"no identity":     {reason: "there are no credentials without one", changes: []func(*object){func(c *object) { c.Spec.IdentityRef = nil }}, want: []string{"spec.identityRef: FieldValueRequired"}},
		"other identity":  {reason: "there is one kind of identity", changes: []func(*object){func(c *object) { c.Spec.IdentityRef = &corev1.ObjectReference{Kind: "Secret"} }}, want: []string{"spec.identityRef.kind: FieldValueNotSupported"}},
		"edge zone":       {reason: "edge zones are behind a gate", changes: []func(*object){func(c *object) { c.Spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{} }}, want: []string{"spec.extendedLocation: FieldValueForbidden"}},
		"edge zone on":    {reason: "the gate lets edge zones in", changes: []func(*object){func(c *object) { c.Spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{} }}, features: plan.Features{EdgeZone: true}},
		"tunnel": {reason: "the SKU Basic has no tunnels", changes: []func(*object){func(c *object) {
			c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{EnableTunneling: true, Sku: "Basic"}
		}}, want: []string{"spec.bastionSpec.azureBastion.enableTunneling: FieldValueInvalid"}},
		"tunnel Standard": {reason: "the SKU Standard has tunnels", changes: []func(*object){func(c *object) {
			c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{EnableTunneling: true, Sku: "Standard"}
		}}},
		"overrides": {reason: "overrides for azure.json can be given when the cluster is made", changes: []func(*object){func(c *object) { c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{} }}},

		"vnet group":     {reason: "resource groups have few characters", changes: []func(*object){func(c *object) { c.Spec.NetworkSpec.Vnet.ResourceGroup = "a b" }}, want: []string{"spec.networkSpec.vnet.resourceGroup: FieldValueInvalid"}},
		"vnet range":     {reason: "a range has a length", changes: []func(*object){func(c *object) { c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "10.0.0.0"} }}, want: []string{"spec.networkSpec.vnet.cidrBlocks[1]: FieldValueInvalid"}},
		"same peering":   {reason: "a peering has the name of the other network", changes: []func(*object){func(c *object) { c.Spec.NetworkSpec.Vnet.Peerings = make(infrav1.VnetPeerings, 2) }}, want: []string{"spec.networkSpec.vnet.peerings[1]: FieldValueDuplicate"}},
		"subnet name":    {reason: "subnet names have few characters", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) { s.Name = "a/b" })}, want: []string{"spec.networkSpec.subnets[0].name: FieldValueInvalid"}},
		"same subnets":   {reason: "subnets are known by name", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) { s.Name = "nodes" })}, want: []string{"spec.networkSpec.subnets[1].name: FieldValueDuplicate"}},
		"subnet range":   {reason: "ranges have to parse", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"ten"} })}, want: []string{"spec.networkSpec.subnets[0].cidrBlocks[0]: FieldValueInvalid"}},
		"subnet outside": {reason: "a subnet is part of its network", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.0.0.0/16", "192.168.0.0/16"} })}, want: []string{"spec.networkSpec.subnets[0].cidrBlocks[1]: FieldValueInvalid"}},
		"priority": {reason: "Azure knows priorities from 100", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
			s.SecurityGroup.SecurityRules = infrav1.SecurityRules{{Priority: 99}, {Priority: 100}, {Priority: 4097}}
		})}, want: []string{"spec.networkSpec.subnets[0].securityGroup.securityRules[0].priority: FieldValueInvalid", "spec.networkSpec.subnets[0].securityGroup.securityRules[2].priority: FieldValueInvalid"}},
		"source, sources": {reason: "Azure takes one or the other", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
			s.SecurityGroup.SecurityRules = infrav1.SecurityRules{{Priority: 100, Source: new("*"), Sources: []*string{new("*")}}}
		})}, want: []string{"spec.networkSpec.subnets[0].securityGroup.securityRules[0].sources: FieldValueForbidden"}},
		"service endpoints": {reason: "services and regions are named, once each", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
			s.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage", Locations: []string{"westeurope", "*"}}, {}, {Service: "Microsoft.Storage", Locations: []string{"*", "*"}}, {Service: "Storage", Locations: []string{"West Europe"}}}
		})}, want: []string{
			"spec.networkSpec.subnets[0].serviceEndpoints[1].service: FieldValueRequired", "spec.networkSpec.subnets[0].serviceEndpoints[1].locations: FieldValueRequired",
			"spec.networkSpec.subnets[0].serviceEndpoints[2].service: FieldValueDuplicate", "spec.networkSpec.subnets[0].serviceEndpoints[2].locations[1]: FieldValueDuplicate",
			"spec.networkSpec.subnets[0].serviceEndpoints[3].service: FieldValueInvalid", "spec.networkSpec.subnets[0].serviceEndpoints[3].locations[0]: FieldValueInvalid"}},
		"endpoint":            {reason: "an address of the subnet is fine", changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.PrivateIPAddresses = []string{"10.0.1.4"} })}},
		"endpoint name":       {reason: "names have few characters", changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.Name = "" })}, want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].name: FieldValueInvalid"}},
		"endpoint to nowhere": {reason: "an endpoint leads somewhere", changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.PrivateLinkServiceConnections = nil })}, want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections: FieldValueRequired"}},
		"endpoint connections": {reason: "services are named by ID", changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) {
			e.PrivateLinkServiceConnections = []infrav1.PrivateLinkServiceConnection{{Name: "a b"}, {PrivateLinkServiceID: "l"}}
		})}, want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].name: FieldValueInvalid", "spec.networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[0].privateLinkServiceID: FieldValueRequired", "spec.networkSpec.subnets[0].privateEndpoints[0].privateLinkServiceConnections[1].privateLinkServiceID: FieldValueInvalid"}},
		"endpoint addresses": {reason: "addresses are of the subnet", changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.PrivateIPAddresses = []string{"four", "10.1.0.4"} })}, want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[0]: FieldValueInvalid", "spec.networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[1]: FieldValueInvalid"}},

		"SKU":          {reason: "Azure retired the SKU Basic", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) { lb.SKU = "Basic" })}, want: []string{"spec.networkSpec.apiServerLB.sku: FieldValueNotSupported"}},
		"type":         {reason: "there are two types", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) { lb.Type, lb.Name = "Private", "lb" })}, want: []string{"spec.networkSpec.apiServerLB.type: FieldValueNotSupported"}},
		"idle timeout": {reason: "Azure keeps connections for 4 to 30 minutes", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) { lb.IdleTimeoutInMinutes = new(int32(31)) })}, want: []string{"spec.networkSpec.apiServerLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"lb name":      {reason: "names have few characters", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) { lb.Name = "a b" })}, want: []string{"spec.networkSpec.apiServerLB.name: FieldValueInvalid"}},
		"two public": {reason: "the endpoint is one address", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
			lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}}, {PublicIP: &infrav1.PublicIPSpec{}}}
		})}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueInvalid"}},
		"public count": {reason: "the endpoint is one address", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPsCount = new(int32(2)) })}, want: []string{"spec.networkSpec.apiServerLB.frontendIPsCount: FieldValueInvalid"}},
		"public and private": {reason: "a private address beside the public one is behind a gate", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
			lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}}, {FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.100"}}}
		})}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[1].privateIP: FieldValueForbidden"}},
		"gate": {reason: "with the gate, the address is checked", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
			lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}}, {FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.9.0.100"}}}
		})}, features: plan.Features{APIServerILB: true}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[1].privateIP: FieldValueInvalid"}},
		"internal": {reason: "the default of an internal load balancer is valid", changes: []func(*object){internal}},
		"internal and public": {reason: "an internal load balancer is not reached from outside", changes: []func(*object){internal, func(c *object) {
			c.Spec.NetworkSpec.APIServerLB.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}, FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.1"}}}
		}}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[0].publicIP: FieldValueForbidden"}},
		"internal with two": {reason: "the endpoint is one address", changes: []func(*object){internal, func(c *object) {
			c.Spec.NetworkSpec.APIServerLB.FrontendIPs = []infrav1.FrontendIP{{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.1"}}, {FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.2"}}}
		}}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueInvalid"}},
		"internal outside": {reason: "an unparsable control-plane range is an error, and no address is in it", changes: []func(*object){internal, func(c *object) {
			c.Spec.NetworkSpec.Subnets = listed("10.1.0.0/16")
			c.Spec.NetworkSpec.Subnets[0].CIDRBlocks = []string{"10.0.0.0"}
		}}, want: []string{"spec.networkSpec.subnets[0].cidrBlocks[0]: FieldValueInvalid", "spec.networkSpec.apiServerLB.frontendIPs[0].privateIP: FieldValueInvalid"}},

		"no control plane": {reason: "there is no load balancer to check without a control plane", changes: []func(*object){func(c *object) { c.Spec.ControlPlaneEnabled = false }}},
		"no control plane, IPv6": {reason: "IPv6 nodes need a way out, also without an API server load balancer", changes: []func(*object){dualStack, func(c *object) {
			c.Spec.ControlPlaneEnabled = false
		}}, want: []string{"spec.networkSpec.nodeOutboundLB: FieldValueRequired"}},
		"IPv6": {reason: "the default of a dual-stack cluster is valid", changes: []func(*object){dualStack}},
		"node outbound": {reason: "the way out of IPv6 nodes has bounds", changes: []func(*object){dualStack, func(c *object) {
			c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(17)), LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(3))}}
		}}, want: []string{"spec.networkSpec.nodeOutboundLB.idleTimeoutInMinutes: FieldValueInvalid", "spec.networkSpec.nodeOutboundLB.frontendIPsCount: FieldValueInvalid"}},
		"node outbound, IPv4": {reason: "an IPv4 cluster may have more outbound addresses", changes: []func(*object){func(c *object) {
			c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(17)), LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(60))}}
		}}},
		"control-plane outbound, public": {reason: "a public load balancer serves outbound connections too", changes: []func(*object){func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{} }}, want: []string{"spec.networkSpec.controlPlaneOutboundLB: FieldValueForbidden"}},
		"control-plane outbound": {reason: "outbound load balancers have bounds", changes: []func(*object){internal, func(c *object) {
			c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(17)), LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(31))}}
		}}, want: []string{"spec.networkSpec.controlPlaneOutboundLB.idleTimeoutInMinutes: FieldValueInvalid", "spec.networkSpec.controlPlaneOutboundLB.frontendIPsCount: FieldValueInvalid"}},

		"zone of a public cluster": {reason: "only internal load balancers are found by private DNS", changes: []func(*object){func(c *object) { c.Spec.NetworkSpec.PrivateDNSZoneName = "example.com" }}, want: []string{"spec.networkSpec.privateDNSZoneName: FieldValueInvalid"}},
		"zone": {reason: "underscores are allowed in DNS names here", changes: []func(*object){internal, func(c *object) {
			c.Spec.NetworkSpec.PrivateDNSZoneName, c.Spec.NetworkSpec.PrivateDNSZoneResourceGroup = "a_b.example.com", "dns"
		}}},
		"zone name":    {reason: "a zone is a DNS name", changes: []func(*object){internal, func(c *object) { c.Spec.NetworkSpec.PrivateDNSZoneName = "a b" }}, want: []string{"spec.networkSpec.privateDNSZoneName: FieldValueInvalid"}},
		"zone address": {reason: "an address is not a DNS name", changes: []func(*object){internal, func(c *object) { c.Spec.NetworkSpec.PrivateDNSZoneName = "10.0.0.1" }}, want: []string{"spec.networkSpec.privateDNSZoneName: FieldValueInvalid"}},
		"zone group":   {reason: "a group without a zone says nothing", changes: []func(*object){internal, func(c *object) { c.Spec.NetworkSpec.PrivateDNSZoneResourceGroup = "a b" }}, want: []string{"spec.networkSpec.privateDNSZoneResourceGroup: FieldValueInvalid", "spec.networkSpec.privateDNSZoneResourceGroup: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newDefaulted(tc.changes...)
			if diff := cmp.Diff(tc.want, found(ValidateAzureCluster(c, tc.features)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateAzureClusterNotDefaulted(t *testing.T) {
	want := []string{
		"spec.networkSpec.subnets: FieldValueRequired",
		"spec.networkSpec.subnets: FieldValueRequired",
		"spec.networkSpec.apiServerLB: FieldValueRequired",
	}
	if diff := cmp.Diff(want, found(ValidateAzureCluster(newCluster(), plan.Features{}))); diff != "" {
		t.Errorf("what defaulting adds is required: -want +got\n%s", diff)
	}
}

func TestValidateAzureClusterUpdate(t *testing.T) {
	type object = infrav1.AzureCluster
	owned := func(tag string) func(*object) {
		return func(c *object) { c.Spec.NetworkSpec.Vnet.Tags = infrav1.Tags{tag: "owned"} }
	}
	listing := func(state string) func(*object) {
		return func(c *object) {
			c.Status.Resources = []infrav1.ResourceStatus{{ID: "/subscriptions/s/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet", State: state}}
		}
	}
	subnet := func(change func(*infrav1.SubnetSpec)) func(*object) {
		return func(c *object) { change(&c.Spec.NetworkSpec.Subnets[1]) }
	}
	apiLB := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) { change(c.Spec.NetworkSpec.APIServerLB) }
	}
	nodeLB := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) { change(c.Spec.NetworkSpec.NodeOutboundLB) }
	}
	zones := func(zones ...string) func(*infrav1.LoadBalancerSpec) {
		return func(lb *infrav1.LoadBalancerSpec) { lb.AvailabilityZones = zones }
	}
	with := func(changes ...func(*object)) []func(*object) { return changes }

	for name, tc := range map[string]struct {
		reason string
		old    []func(*object)
		change []func(*object)
		want   []string
	}{
		"nothing": {reason: "no change is no offence"},
		"invalid and the same": {reason: "a rule that came later does not keep finalizers on",
			old: with(func(c *object) { c.Spec.IdentityRef = nil }), change: with(func(c *object) { c.Finalizers = nil })},
		"invalid and deleting": {reason: "an object that is being deleted can change as it likes",
			old: with(func(c *object) { c.DeletionTimestamp = &deletionTime }), change: with(func(c *object) { c.Spec.IdentityRef = nil })},
		"tags":           {reason: "tags follow", change: with(func(c *object) { c.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })},
		"invalid change": {reason: "what changes has to be valid", change: with(func(c *object) { c.Spec.IdentityRef = nil }), want: []string{"spec.identityRef: FieldValueRequired"}},
		"overrides added": {reason: "machines have read azure.json",
			change: with(func(c *object) { c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{} }), want: []string{"spec.cloudProviderConfigOverrides: FieldValueForbidden"}},
		"bastion added": {reason: "a bastion host can be added", change: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} })},
		"bastion removed": {reason: "it goes when it is wanted no more",
			old: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} }), change: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = nil })},
		"bastion grows": {reason: "Azure changes the SKU and tunnels in place",
			old: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} }), change: with(func(c *object) {
				c.Spec.BastionSpec.AzureBastion.Sku, c.Spec.BastionSpec.AzureBastion.EnableTunneling = "Standard", true
			})},
		"bastion shrinks": {reason: "Azure refuses it",
			old: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Standard"} }), change: with(func(c *object) { c.Spec.BastionSpec.AzureBastion.Sku = "Basic" }),
			want: []string{"spec.bastionSpec.azureBastion.sku: FieldValueForbidden"}},
		"bastion elsewhere": {reason: "it would be another one, in the same subnet",
			old: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} }), change: with(func(c *object) {
				bastion := c.Spec.BastionSpec.AzureBastion
				bastion.Name, bastion.PublicIP.Name, bastion.Subnet.CIDRBlocks = "other", "other-ip", []string{"10.254.255.224/27"}
			}), want: []string{"spec.bastionSpec.azureBastion.name: FieldValueForbidden", "spec.bastionSpec.azureBastion.publicIP.name: FieldValueForbidden", "spec.bastionSpec.azureBastion.subnet.cidrBlocks: FieldValueForbidden"}},
		"control-plane outbound added": {reason: "control-plane machines have their way out",
			old: with(internal), change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{} }), want: []string{"spec.networkSpec.controlPlaneOutboundLB: FieldValueForbidden"}},
		"control-plane outbound zones in another order": {reason: "zones are a set",
			old: with(internal, func(c *object) {
				c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{AvailabilityZones: []string{"1", "2"}}
			}),
			change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB.AvailabilityZones = []string{"2", "1"} })},
		"zones":                  {reason: "frontends do not change zones", old: with(internal), change: with(apiLB(zones("1"))), want: []string{"spec.networkSpec.apiServerLB.availabilityZones: FieldValueForbidden"}},
		"zones in another order": {reason: "zones are a set", old: with(internal, apiLB(zones("1", "2"))), change: with(apiLB(zones("2", "1")))},
		"api server": {reason: "the load balancer of the API server is one of a kind", change: with(apiLB(func(lb *infrav1.LoadBalancerSpec) {
			lb.SKU, lb.Type, lb.Name, lb.IdleTimeoutInMinutes = "Basic", infrav1.Internal, "other", new(int32(30))
		})), want: []string{"spec.networkSpec.apiServerLB.sku: FieldValueInvalid", "spec.networkSpec.apiServerLB.type: FieldValueInvalid", "spec.networkSpec.apiServerLB.name: FieldValueInvalid", "spec.networkSpec.apiServerLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"private address": {reason: "machines use the address", old: with(internal), change: with(apiLB(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPs[0].PrivateIPAddress = "10.0.0.101" })), want: []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueForbidden"}},
		"node outbound of IPv6": {reason: "nodes with IPv6 are behind it", old: with(dualStack), change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) {
			lb.Name, lb.IdleTimeoutInMinutes, lb.AvailabilityZones = "other", new(int32(5)), []string{"1"}
		})), want: []string{"spec.networkSpec.nodeOutboundLB.availabilityZones: FieldValueForbidden", "spec.networkSpec.nodeOutboundLB.name: FieldValueInvalid", "spec.networkSpec.nodeOutboundLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"more outbound addresses": {reason: "outbound addresses can be added", old: with(dualStack), change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPsCount = new(int32(3)) }))},
		"subnet range":            {reason: "the range of a subnet that somebody else owns follows", change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"range of our subnet":     {reason: "machines are in it", old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_c1")), change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })), want: []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range, other Cluster name": {reason: "the tag has the name of the Cluster", old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_other"), func(c *object) { c.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": "other"} }),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })), want: []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range of a subnet that was made": {reason: "Azure does not change the range of a subnet with machines in it", old: with(listing(string(arm.Ready))),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })), want: []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range of a foreign subnet": {reason: "the range of a subnet that somebody else owns follows", old: with(listing(string(arm.Foreign))),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"range that Azure refused": {reason: "a range that did not work can be corrected", old: with(listing(string(arm.Failed))),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"subnet parts": {reason: "what hangs on a subnet stays", change: with(subnet(func(s *infrav1.SubnetSpec) {
			s.RouteTable.Name, s.NatGateway.Name, s.SecurityGroup.Name = "a", "b", "c"
		})), want: []string{"spec.networkSpec.subnets[1].routeTable.name: FieldValueInvalid", "spec.networkSpec.subnets[1].natGateway.name: FieldValueInvalid", "spec.networkSpec.subnets[1].securityGroup.name: FieldValueInvalid"}},
		"subnet added": {reason: "subnets can be added", change: with(func(c *object) {
			c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "more", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.8.0.0/16"}}})
		})},
	} {
		t.Run(name, func(t *testing.T) {
			old := newDefaulted(tc.old...)
			c := old.DeepCopy()
			for _, change := range tc.change {
				change(c)
			}
			DefaultAzureCluster(c)
			before := mustJSON(t, old)
			if diff := cmp.Diff(tc.want, found(ValidateAzureClusterUpdate(old, c, plan.Features{})), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, mustJSON(t, old)); diff != "" {
				t.Errorf("validation changes the object: -before +after\n%s", diff)
			}
		})
	}
}

func TestValidateAzureClusterTemplate(t *testing.T) {
	type object = infrav1.AzureClusterTemplate
	for name, tc := range map[string]struct {
		reason string
		change func(*infrav1.NetworkTemplateSpec)
		want   []string
	}{
		"range": {reason: "ranges have to parse", change: func(n *infrav1.NetworkTemplateSpec) { n.Vnet.CIDRBlocks = []string{"ten"} }, want: []string{"vnet.cidrBlocks[0]: FieldValueInvalid"}},
		"subnets": {reason: "subnets have names of their own, and are part of the network", change: func(n *infrav1.NetworkTemplateSpec) {
			n.Subnets = infrav1.SubnetTemplatesSpec{
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetCluster}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetNode, CIDRBlocks: []string{"192.168.0.0/16"}}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a b", Role: infrav1.SubnetNode}, SecurityGroup: infrav1.SecurityGroupClass{SecurityRules: infrav1.SecurityRules{{}}}},
			}
		}, want: []string{"subnets[1].name: FieldValueDuplicate", "subnets[1].cidrBlocks[0]: FieldValueInvalid", "subnets[2].name: FieldValueInvalid", "subnets[2].securityGroup.securityRules[0].priority: FieldValueInvalid"}},
		"cluster role": {reason: "a subnet for everything will do", change: func(n *infrav1.NetworkTemplateSpec) {
			n.Subnets = infrav1.SubnetTemplatesSpec{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetCluster}}}
		}},
		"api server": {reason: "the load balancer is checked", change: func(n *infrav1.NetworkTemplateSpec) {
			n.APIServerLB = infrav1.LoadBalancerClassSpec{SKU: "Basic", Type: "Private", IdleTimeoutInMinutes: new(int32(3))}
		}, want: []string{"apiServerLB.sku: FieldValueNotSupported", "apiServerLB.type: FieldValueNotSupported", "apiServerLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"outbound":        {reason: "a public load balancer serves outbound connections too", change: func(n *infrav1.NetworkTemplateSpec) { n.ControlPlaneOutboundLB = &infrav1.LoadBalancerClassSpec{} }, want: []string{"controlPlaneOutboundLB: FieldValueForbidden"}},
		"zone":            {reason: "only internal load balancers are found by private DNS", change: func(n *infrav1.NetworkTemplateSpec) { n.PrivateDNSZoneName = "example.com" }, want: []string{"privateDNSZoneName: FieldValueInvalid"}},
		"zone of nothing": {reason: "a group without a zone says nothing", change: func(n *infrav1.NetworkTemplateSpec) { n.PrivateDNSZoneResourceGroup = "dns" }, want: []string{"privateDNSZoneResourceGroup: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			template := &object{}
			tc.change(&template.Spec.Template.Spec.NetworkSpec)
			DefaultAzureClusterTemplate(template)
			var want []string
			for _, path := range tc.want {
				want = append(want, "spec.template.spec.networkSpec."+path)
			}
			if diff := cmp.Diff(want, found(ValidateAzureClusterTemplate(template)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateAzureClusterTemplateUpdate(t *testing.T) {
	old := &infrav1.AzureClusterTemplate{}
	DefaultAzureClusterTemplate(old)
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	if errs := ValidateAzureClusterTemplateUpdate(old, labelled); len(errs) > 0 {
		t.Errorf("labels are free: %v", errs)
	}
	moved := old.DeepCopy()
	moved.Spec.Template.Spec.Location = "northeurope"
	if diff := cmp.Diff([]string{"spec.template.spec: FieldValueForbidden"}, found(ValidateAzureClusterTemplateUpdate(old, moved))); diff != "" {
		t.Errorf("clusters were made from it: -want +got\n%s", diff)
	}
}
