package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const linkServiceID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/privateLinkServices/l"

// mongoDB are connections of a private endpoint with a service whose members depend on the service.
var mongoDB = []infrav1.PrivateLinkServiceConnection{{GroupIDs: []string{"MongoDB"},
	PrivateLinkServiceID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.DocumentDB/databaseAccounts/d"}}

// peeredTwice is a cluster that validation refuses.
func peeredTwice(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.Vnet.Peerings = make(infrav1.VnetPeerings, 2)
}

// peeringName gives the cluster a peering whose name has so many characters.
func peeringName(characters int) func(*infrav1.AzureCluster) {
	return func(c *infrav1.AzureCluster) {
		vnet := &c.Spec.NetworkSpec.Vnet
		vnet.Name = strings.Repeat("v", 40)
		vnet.Peerings = infrav1.VnetPeerings{{VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{
			RemoteVnetName: strings.Repeat("r", characters-len(vnet.Name+"-To-"))}}}
	}
}

// natGateway puts the NAT gateway of the first subnet into zones.
func natGateway(zones ...string) func(*infrav1.AzureCluster) {
	return func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
		c.Spec.NetworkSpec.Subnets[0].NatGateway.Zones = zones
	}
}

// makeInternal makes the API server load balancer an internal one.
func makeInternal(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
}

func dualStack(c *infrav1.AzureCluster) {
	c.Spec.NetworkSpec.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "2001:db8::/56"}
	c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16", "2001:db8::/64")
}

// azureClusterRow is the creation of an AzureCluster.
type azureClusterRow struct {
	reason   string
	changes  []func(*infrav1.AzureCluster)
	features plan.Features
	want     []string
}

func TestValidateAzureCluster(t *testing.T) {
	for name, row := range azureClusterRows() {
		t.Run(name, func(t *testing.T) {
			c := newDefaulted(row.changes...)
			if diff := cmp.Diff(row.want, errorPaths(ValidateAzureCluster(c, row.features)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", row.reason, diff)
			}
		})
	}
}

func azureClusterRows() map[string]azureClusterRow {
	type object = infrav1.AzureCluster
	firstSubnet := func(change func(*infrav1.SubnetSpec)) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
			change(&c.Spec.NetworkSpec.Subnets[0])
		}
	}
	endpoint := func(change func(*infrav1.PrivateEndpointSpec)) func(*object) {
		return firstSubnet(func(s *infrav1.SubnetSpec) {
			e := infrav1.PrivateEndpointSpec{Name: "e",
				PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{PrivateLinkServiceID: linkServiceID}}}
			change(&e)
			s.PrivateEndpoints = infrav1.PrivateEndpoints{e}
		})
	}
	outbound := func(timeout, frontends int32) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(frontends),
				LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(timeout)}}
		}
	}
	lb := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{}
			change(c.Spec.NetworkSpec.APIServerLB)
		}
	}

	return map[string]azureClusterRow{
		"minimal": {reason: "the defaulted smallest spec is valid"},
		"edge zone": {reason: "edge zones are behind a gate",
			changes: []func(*object){func(c *object) { c.Spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{} }},
			want:    []string{"spec.extendedLocation: FieldValueForbidden"}},
		"edge zone on": {reason: "the gate lets edge zones in",
			changes:  []func(*object){func(c *object) { c.Spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{} }},
			features: plan.Features{EdgeZone: true}},
		"overrides": {reason: "overrides for azure.json can be given when the cluster is made",
			changes: []func(*object){func(c *object) { c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{} }}},

		"bastion subnet": {reason: "Azure takes one name only, and the subnet has the rules of others", changes: []func(*object){func(c *object) {
			c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Subnet: infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "bastion",
				Role: infrav1.SubnetBastion, ServiceEndpoints: infrav1.ServiceEndpoints{{Service: "storage", Locations: []string{"eastus"}}}}}}
		}}, want: []string{"spec.bastionSpec.azureBastion.subnet.serviceEndpoints[0].service: FieldValueInvalid",
			"spec.bastionSpec.azureBastion.subnet.name: FieldValueInvalid"}},
		"same peering": {reason: "a peering has the name of the other network", changes: []func(*object){peeredTwice},
			want: []string{"spec.networkSpec.vnet.peerings[1].remoteVnetName: FieldValueDuplicate"}},
		"peering name of 80": {reason: "Azure's names have 80 characters", changes: []func(*object){peeringName(80)}},
		"peering name of 81": {reason: "Azure refuses the peering after the subnets were made",
			changes: []func(*object){peeringName(81)},
			want:    []string{"spec.networkSpec.vnet.peerings[0].remoteVnetName: FieldValueInvalid"}},
		"subnet outside": {reason: "a subnet is part of its network",
			changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.0.0.0/16", "192.168.0.0/16"} })},
			want:    []string{"spec.networkSpec.subnets[0].cidrBlocks[1]: FieldValueInvalid"}},
		"source, sources": {reason: "Azure takes one or the other", changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
			s.SecurityGroup.SecurityRules = infrav1.SecurityRules{{Source: new("*"), Sources: []*string{new("*")}}, {Source: new("*")},
				{Sources: []*string{new("10.0.0.0/8"), new("Internet")}}}
		})}, want: []string{"spec.networkSpec.subnets[0].securityGroup.securityRules[0].sources: FieldValueForbidden"}},
		"service endpoints": {reason: "services and regions are named, once each",
			changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
				s.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage", Locations: []string{"westeurope", "westus2", "*"}}, {},
					{Service: "Microsoft.Storage", Locations: []string{"*", "*"}}, {Service: "Storage", Locations: []string{"West Europe"}}}
			})}, want: []string{
				"spec.networkSpec.subnets[0].serviceEndpoints[1].service: FieldValueRequired",
				"spec.networkSpec.subnets[0].serviceEndpoints[1].locations: FieldValueRequired",
				"spec.networkSpec.subnets[0].serviceEndpoints[2].service: FieldValueDuplicate",
				"spec.networkSpec.subnets[0].serviceEndpoints[2].locations[1]: FieldValueDuplicate",
				"spec.networkSpec.subnets[0].serviceEndpoints[3].service: FieldValueInvalid",
				"spec.networkSpec.subnets[0].serviceEndpoints[3].locations[0]: FieldValueInvalid"}},
		"service endpoint of all regions": {reason: "Azure Storage has a service for accounts in any region",
			changes: []func(*object){firstSubnet(func(s *infrav1.SubnetSpec) {
				s.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage.Global", Locations: []string{"*"}}}
			})}},
		"NAT gateway in a zone": {reason: "Azure takes one",
			changes: []func(*object){natGateway("1")}},
		"NAT gateway in two zones": {reason: "Azure takes one",
			changes: []func(*object){natGateway("1", "2")}, want: []string{"spec.networkSpec.subnets[0].natGateway.zones: FieldValueInvalid"}},
		"endpoint": {reason: "an address of the subnet is fine",
			changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.PrivateIPAddresses = []string{"10.0.1.4"} })}},
		"endpoint addresses": {reason: "addresses are of the subnet",
			changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) { e.PrivateIPAddresses = []string{"four", "10.1.0.4"} })},
			want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[0]: FieldValueInvalid",
				"spec.networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses[1]: FieldValueInvalid"}},

		"endpoint of an account with regions": {reason: "Azure needs an address of each region, whose member is not known",
			changes: []func(*object){endpoint(func(e *infrav1.PrivateEndpointSpec) {
				e.PrivateIPAddresses, e.PrivateLinkServiceConnections = []string{"10.0.1.4"}, mongoDB
			})}, want: []string{"spec.networkSpec.subnets[0].privateEndpoints[0].privateIPAddresses: FieldValueInvalid"}},

		"public and private": {reason: "a private address beside the public one is behind a gate",
			changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
				lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}},
					{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.100"}}}
			})}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[1].privateIP: FieldValueForbidden"}},
		"gate": {reason: "with the gate, the address is checked", changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
			lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}},
				{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.9.0.100"}}}
		})}, features: plan.Features{APIServerILB: true},
			want: []string{"spec.networkSpec.apiServerLB.frontendIPs[1].privateIP: FieldValueInvalid"}},
		"gate, inside": {reason: "with the gate, a public load balancer has an address in the control-plane subnet",
			changes: []func(*object){lb(func(lb *infrav1.LoadBalancerSpec) {
				lb.FrontendIPs = []infrav1.FrontendIP{{PublicIP: &infrav1.PublicIPSpec{}},
					{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.0.0.100"}}}
			})}, features: plan.Features{APIServerILB: true}},
		"internal": {reason: "the default of an internal load balancer is valid", changes: []func(*object){makeInternal}},
		"internal outside": {reason: "an unparsable control-plane range is an error, and no address is in it",
			changes: []func(*object){makeInternal, func(c *object) {
				c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
				c.Spec.NetworkSpec.Subnets[0].CIDRBlocks = []string{"10.0.0.0"}
			}}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[0].privateIP: FieldValueInvalid"}},
		"internal elsewhere": {reason: "the address is of the control-plane subnet", changes: []func(*object){makeInternal, func(c *object) {
			c.Spec.NetworkSpec.APIServerLB.FrontendIPs = []infrav1.FrontendIP{
				{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.1.0.100"}}}
		}}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[0].privateIP: FieldValueInvalid"}},
		"internal address": {reason: "an address is one", changes: []func(*object){makeInternal, func(c *object) {
			c.Spec.NetworkSpec.APIServerLB.FrontendIPs = []infrav1.FrontendIP{{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "ten"}}}
		}}, want: []string{"spec.networkSpec.apiServerLB.frontendIPs[0].privateIP: FieldValueInvalid"}},
		"internal in the subnet for everything": {reason: "a subnet with the role cluster has control-plane machines, too",
			changes: []func(*object){makeInternal, func(c *object) {
				c.Spec.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "all", Role: infrav1.SubnetCluster,
					CIDRBlocks: []string{"10.5.0.0/16"}}}}
				c.Spec.NetworkSpec.APIServerLB.FrontendIPs = []infrav1.FrontendIP{
					{FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: "10.5.0.100"}}}
			}}},

		"no control plane": {reason: "there is no load balancer to check without a control plane",
			changes: []func(*object){func(c *object) { c.Spec.ControlPlaneEnabled = false }}},
		"no control plane, IPv6": {reason: "IPv6 nodes need a way out, also without an API server load balancer",
			changes: []func(*object){dualStack, func(c *object) {
				c.Spec.ControlPlaneEnabled = false
			}}, want: []string{"spec.networkSpec.nodeOutboundLB: FieldValueRequired"}},
		"IPv6": {reason: "the default of a dual-stack cluster is valid", changes: []func(*object){dualStack}},
		"node outbound": {reason: "the way out of IPv6 nodes has bounds", changes: []func(*object){dualStack, outbound(31, 17)},
			want: []string{"spec.networkSpec.nodeOutboundLB.idleTimeoutInMinutes: FieldValueInvalid",
				"spec.networkSpec.nodeOutboundLB.frontendIPsCount: FieldValueInvalid"}},
		"node outbound, longest": {reason: "30 minutes and 16 addresses are within them", changes: []func(*object){dualStack, outbound(30, 16)}},
		"node outbound, internal": {reason: "nodes behind an internal load balancer have a way out of their own",
			changes: []func(*object){dualStack, makeInternal}},
		"node outbound, IPv4": {reason: "an IPv4 cluster may have more outbound addresses", changes: []func(*object){func(c *object) {
			c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(17)),
				LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(60))}}
		}}},
	}
}

func TestValidateAzureClusterNotDefaulted(t *testing.T) {
	want := []string{
		"spec.networkSpec.subnets: FieldValueRequired",
		"spec.networkSpec.subnets: FieldValueRequired",
		"spec.networkSpec.apiServerLB: FieldValueRequired",
	}
	if diff := cmp.Diff(want, errorPaths(ValidateAzureCluster(newCluster(), plan.Features{}))); diff != "" {
		t.Errorf("defaulted fields are required: -want +got\n%s", diff)
	}
}

func TestValidateAzureClusterUpdate(t *testing.T) {
	type object = infrav1.AzureCluster
	owned := func(tag string) func(*object) {
		return func(c *object) { c.Spec.NetworkSpec.Vnet.Tags = infrav1.Tags{tag: "owned"} }
	}
	listing := func(id string) func(*object) {
		return func(c *object) {
			c.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"` + id + `":[""]}}`}
		}
	}
	subnet := func(change func(*infrav1.SubnetSpec)) func(*object) {
		return func(c *object) { change(&c.Spec.NetworkSpec.Subnets[1]) }
	}
	apiLB := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) { change(c.Spec.NetworkSpec.APIServerLB) }
	}
	bothFrontends := func(address string) func(*object) {
		return func(c *object) {
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{FrontendIPs: []infrav1.FrontendIP{{Name: "public",
				PublicIP: &infrav1.PublicIPSpec{Name: "ip"}}, {Name: "private", FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: address}}}}
		}
	}
	nodeLB := func(change func(*infrav1.LoadBalancerSpec)) func(*object) {
		return func(c *object) { change(c.Spec.NetworkSpec.NodeOutboundLB) }
	}
	elsewhere := func(c *object) { c.Spec.Location, c.Spec.SubscriptionID = "northeurope", "other" }
	ready := func(c *object) { c.Status.Ready = true }
	otherNetwork := func(c *object) {
		c.Spec.NetworkSpec.Vnet.Name, c.Spec.NetworkSpec.Vnet.ResourceGroup = "other", "elsewhere"
	}
	otherNetworkRefused := []string{"spec.networkSpec.vnet.name: FieldValueForbidden",
		"spec.networkSpec.vnet.resourceGroup: FieldValueForbidden"}
	otherPool := func(lb *infrav1.LoadBalancerSpec) { lb.BackendPool.Name = "other" }
	unmoved := []string{"spec.subscriptionID: FieldValueForbidden", "spec.location: FieldValueForbidden"}
	with := func(changes ...func(*object)) []func(*object) { return changes }
	withoutControlPlane := func(c *object) { c.Spec.ControlPlaneEnabled = false }
	publicAddress := func(name string) func(*object) {
		return apiLB(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPs[0].PublicIP = &infrav1.PublicIPSpec{Name: name} })
	}
	endpoint := func(host string) func(*object) {
		return func(c *object) { c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: host, Port: 6443} }
	}
	publicAddressRefused := []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueForbidden"}

	for name, tc := range map[string]struct {
		reason string
		old    []func(*object)
		change []func(*object)
		want   []string
	}{
		"nothing": {reason: "no change is no offence"},
		"invalid and the same": {reason: "a rule that came later does not keep finalizers on",
			old: with(peeredTwice), change: with(func(c *object) { c.Finalizers = nil })},
		"invalid, other change": {reason: "a stored mistake does not prevent other changes, such as the endpoint that the controller sets",
			old: with(peeredTwice), change: with(endpoint("c1.example.com"))},
		"invalid and deleting": {reason: "an object that is being deleted can change as it likes",
			old: with(func(c *object) { c.DeletionTimestamp = &deletionTime }), change: with(peeredTwice)},
		"tags": {reason: "tags follow", change: with(func(c *object) { c.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })},
		"stored peering with a long name": {reason: "a stored cluster can be changed and deleted", old: with(peeringName(81)),
			change: with(func(c *object) { c.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })},
		"stored NAT gateway in two zones": {reason: "a stored cluster can be changed and deleted", old: with(natGateway("1", "2")),
			change: with(natGateway("1", "2"), func(c *object) { c.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })},
		"NAT gateway in another zone, too": {reason: "changed values have to be valid", old: with(natGateway("1")),
			change: with(natGateway("1", "2")), want: []string{"spec.networkSpec.subnets[0].natGateway.zones: FieldValueInvalid"}},
		"invalid change": {reason: "changed values have to be valid", change: with(peeredTwice),
			want: []string{"spec.networkSpec.vnet.peerings[1].remoteVnetName: FieldValueDuplicate"}},
		"invalid change of an immutable field": {reason: "immutability is reported before any other mistake",
			change: with(peeredTwice, func(c *object) { c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{} }),
			want:   []string{"spec.cloudProviderConfigOverrides: FieldValueForbidden"}},
		"overrides added": {reason: "machines have read azure.json",
			change: with(func(c *object) { c.Spec.CloudProviderConfigOverrides = &infrav1.CloudProviderConfigOverrides{} }),
			want:   []string{"spec.cloudProviderConfigOverrides: FieldValueForbidden"}},
		"bastion added": {reason: "a bastion host can be added",
			change: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} })},
		"bastion removed": {reason: "it goes when it is wanted no more",
			old:    with(func(c *object) { c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{Sku: "Basic"} }),
			change: with(func(c *object) { c.Spec.BastionSpec.AzureBastion = nil })},
		"control-plane outbound added": {reason: "control-plane machines have their way out",
			old: with(makeInternal), change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{} }),
			want: []string{"spec.networkSpec.controlPlaneOutboundLB: FieldValueForbidden"}},
		"control-plane outbound zones in another order": {reason: "zones are a set",
			old: with(makeInternal, func(c *object) {
				c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{AvailabilityZones: []string{"1", "2"}}
			}),
			change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB.AvailabilityZones = []string{"2", "1"} })},
		"control-plane outbound changed": {reason: "control-plane machines have their way out",
			old:    with(makeInternal, func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{} }),
			change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB.FrontendIPsCount = new(int32(2)) }),
			want:   []string{"spec.networkSpec.controlPlaneOutboundLB: FieldValueForbidden"}},
		"control-plane outbound removed": {reason: "control-plane machines have their way out",
			old:    with(makeInternal, func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = &infrav1.LoadBalancerSpec{} }),
			change: with(func(c *object) { c.Spec.NetworkSpec.ControlPlaneOutboundLB = nil }),
			want:   []string{"spec.networkSpec.controlPlaneOutboundLB: FieldValueForbidden"}},
		"private address beside a public one": {reason: "machines use the address, also of another type",
			old:    with(bothFrontends("10.0.0.100")),
			change: with(bothFrontends("10.0.0.101")), want: []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueForbidden"}},
		"private address": {reason: "machines use the address", old: with(makeInternal),
			change: with(apiLB(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPs[0].PrivateIPAddress = "10.0.0.101" })),
			want:   []string{"spec.networkSpec.apiServerLB.frontendIPs: FieldValueForbidden"}},
		"public address": {reason: "the endpoint has the name of the first address", old: with(ready), change: with(publicAddress("other")),
			want: publicAddressRefused},
		"public address, endpoint": {reason: "the endpoint is a name of Azure, which belongs to the first address",
			old:    with(endpoint("c1-1a2b.westeurope.cloudapp.azure.com")),
			change: with(publicAddress("other")), want: publicAddressRefused},
		"public address, own name of Azure": {reason: "the label cannot move to an address beside the first", old: with(func(c *object) {
			c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{FrontendIPs: []infrav1.FrontendIP{{Name: "f",
				PublicIP: &infrav1.PublicIPSpec{Name: "ip", DNSName: "api.example.com"}}}}
		}, endpoint("API.example.com")), change: with(publicAddress("other")), want: publicAddressRefused},
		"public address, own endpoint": {reason: "users lead their own name to the address they want",
			old: with(ready, endpoint("api.example.com")), change: with(publicAddress("other"))},
		"public address in other letters": {reason: "Azure takes names in any case", old: with(ready),
			change: with(publicAddress("PIP-c1-apiserver"))},
		"public address, nothing there yet": {reason: "a name that Azure refused can be corrected", change: with(publicAddress("other"))},
		"control plane moves out": {reason: "the load balancer and the address of the API server would be deleted", old: with(ready),
			change: with(withoutControlPlane), want: []string{"spec.controlPlaneEnabled: FieldValueForbidden"}},
		"control plane moves out, nothing there yet": {reason: "there is no API server", change: with(withoutControlPlane)},
		"control plane moves in": {reason: "a load balancer is added", old: with(ready, withoutControlPlane),
			change: with(func(c *object) { c.Spec.ControlPlaneEnabled = true })},
		"node outbound of IPv6": {reason: "nodes with IPv6 are behind it", old: with(dualStack),
			change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) {
				lb.ID, lb.Name, lb.IdleTimeoutInMinutes = "/other", "other", new(int32(5))
			})), want: []string{"spec.networkSpec.nodeOutboundLB.name: FieldValueInvalid",
				"spec.networkSpec.nodeOutboundLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"ID of node outbound": {reason: "nodes with IPv6 are behind it",
			old:    with(dualStack, func(c *object) { c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{ID: "/a"} }),
			change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) { lb.ID = "/b" })),
			want:   []string{"spec.networkSpec.nodeOutboundLB.id: FieldValueInvalid"}},
		"node outbound of IPv4": {reason: "nodes with IPv4 have NAT gateways beside it",
			old: with(func(c *object) { c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{} }),
			change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) {
				lb.Name, lb.IdleTimeoutInMinutes = "other", new(int32(5))
			}))},
		"more outbound addresses": {reason: "outbound addresses can be added", old: with(dualStack),
			change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) { lb.FrontendIPsCount = new(int32(3)) }))},
		"subnet range": {reason: "the range of a subnet that others own may follow",
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"range of our subnet": {reason: "machines are in it", old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_c1")),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })),
			want:   []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range, other Cluster name": {reason: "the tag has the name of the Cluster",
			old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_other"),
				func(c *object) { c.Labels = map[string]string{"cluster.x-k8s.io/cluster-name": "other"} }),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })),
			want:   []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range of a subnet that was made": {reason: "Azure does not change the range of a subnet with machines in it",
			old:    with(listing("c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet")),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} })),
			want:   []string{"spec.networkSpec.subnets[1].cidrBlocks: FieldValueForbidden"}},
		"range of a foreign subnet": {reason: "the range of a subnet that others own may follow", old: with(listing("c1")),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"range that Azure refused": {reason: "a range that did not work can be corrected", old: with(func(c *object) {
			c.Annotations = map[string]string{
				infrav1.AppliedAnnotation: `{"applied":{"c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet":[]}}`}
		}),
			change: with(subnet(func(s *infrav1.SubnetSpec) { s.CIDRBlocks = []string{"10.7.0.0/16"} }))},
		"region, seen in Azure": {reason: "the annotation goes with the object wherever it is moved", old: with(listing("c1")),
			change: with(elsewhere), want: unmoved},
		"region, seen by v2.0.0-alpha": {reason: "its annotation is read until the object is upgraded", old: with(func(c *object) {
			c.Annotations = map[string]string{"sigs.k8s.io/cluster-api-provider-azure-last-applied": `{"c1":[""]}`}
		}), change: with(elsewhere), want: unmoved},
		"region, endpoint": {reason: "after a move the spec is all there is",
			old: with(func(c *object) { c.Spec.ControlPlaneEndpoint.Host = "c1.example.com" }), change: with(elsewhere), want: unmoved},
		"region, ready": {reason: "the established provider's status proves that the cluster exists",
			old: with(func(c *object) { c.Status.Ready = true }), change: with(elsewhere), want: unmoved},
		"region, provisioned": {reason: "and so does the status of today's contract",
			old: with(func(c *object) { c.Status.Initialization.Provisioned = new(true) }), change: with(elsewhere), want: unmoved},
		"region, network tagged": {reason: "the established provider recorded the tags of resources that it had created",
			old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_c1")), change: with(elsewhere), want: unmoved},
		"region, another spelling": {reason: "it is the same region", old: with(func(c *object) {
			c.Status.Ready = true
			c.Spec.Location, c.Spec.SubscriptionID = "East US", "AB"
		}), change: with(func(c *object) { c.Spec.Location, c.Spec.SubscriptionID = "eastus", "ab" })},
		"region, nothing there yet": {reason: "a first try that failed can be corrected", change: with(elsewhere)},
		"region, refused by Azure": {
			reason: "as with a policy that allows no group in the region: planned resources that never existed bind no field",
			old:    with(func(c *object) { c.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"c1":[]}}`} }),
			change: with(elsewhere)},
		"another network": {reason: "machines stay in the first one", old: with(ready), change: with(otherNetwork),
			want: otherNetworkRefused},
		"another network, tagged": {reason: "the established provider recorded the tags of resources that it had created",
			old: with(owned("sigs.k8s.io_cluster-api-provider-azure_cluster_c1")), change: with(otherNetwork), want: otherNetworkRefused},
		"another network, made": {reason: "the annotation goes with the object wherever it is moved",
			old: with(listing("c1/providers/Microsoft.Network/virtualNetworks/c1-vnet")), change: with(otherNetwork), want: otherNetworkRefused},
		"another network, not seen": {reason: "the name of a network that users bring can be corrected as long as none was found",
			old: with(listing("c1")), change: with(otherNetwork)},
		"network in other letters": {reason: "Azure takes names in any case", old: with(ready),
			change: with(func(c *object) { c.Spec.NetworkSpec.Vnet.Name, c.Spec.NetworkSpec.Vnet.ResourceGroup = "C1-VNet", "C1" })},
		"another pool": {reason: "machines are in the first one",
			old:    with(ready, func(c *object) { c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{} }),
			change: with(apiLB(otherPool), nodeLB(otherPool)),
			want: []string{"spec.networkSpec.apiServerLB.backendPool.name: FieldValueForbidden",
				"spec.networkSpec.nodeOutboundLB.backendPool.name: FieldValueForbidden"}},
		"another pool, nothing there yet": {reason: "the pool has no members", change: with(apiLB(otherPool))},
		"pool of another load balancer": {reason: "it is not the same pool, even with the same name",
			old:    with(ready, func(c *object) { c.Spec.NetworkSpec.NodeOutboundLB = &infrav1.LoadBalancerSpec{} }),
			change: with(nodeLB(func(lb *infrav1.LoadBalancerSpec) { lb.Name, lb.BackendPool.Name = "other", "others" }))},
		"subnet added": {reason: "subnets can be added", change: with(func(c *object) {
			c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets,
				infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "more", Role: infrav1.SubnetNode,
					CIDRBlocks: []string{"10.8.0.0/16"}}})
		})},
	} {
		t.Run(name, func(t *testing.T) {
			old := newDefaulted(tc.old...)
			c := old.DeepCopy()
			for _, change := range tc.change {
				change(c)
			}
			defaults.FillAzureCluster(c)
			before := mustJSON(t, old)
			if diff := cmp.Diff(tc.want, errorPaths(validateUpdate(t, azureClusterKind(plan.Features{}), old, c)),
				cmpopts.EquateEmpty()); diff != "" {
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
		"subnets": {reason: "subnets have names of their own, and are part of the network", change: func(n *infrav1.NetworkTemplateSpec) {
			n.Subnets = infrav1.SubnetTemplatesSpec{
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetCluster}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "b", Role: infrav1.SubnetNode, CIDRBlocks: []string{"192.168.0.0/16"}}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "c", Role: infrav1.SubnetNode},
					SecurityGroup: infrav1.SecurityGroupClass{SecurityRules: infrav1.SecurityRules{{Source: new("*"), Sources: []*string{new("*")}}}}},
			}
		}, want: []string{"subnets[1].cidrBlocks[0]: FieldValueInvalid",
			"subnets[2].securityGroup.securityRules[0].sources: FieldValueForbidden"}},
		"node outbound": {reason: "the way out of IPv6 nodes has bounds", change: func(n *infrav1.NetworkTemplateSpec) {
			n.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "2001:db8::/56"}
			n.Subnets = infrav1.SubnetTemplatesSpec{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetNode,
				CIDRBlocks: []string{"10.1.0.0/16", "2001:db8::/64"}}}}
			n.NodeOutboundLB = &infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(31))}
		}, want: []string{"nodeOutboundLB.idleTimeoutInMinutes: FieldValueInvalid"}},
		"node outbound of IPv4": {reason: "Azure keeps outbound connections for longer", change: func(n *infrav1.NetworkTemplateSpec) {
			n.NodeOutboundLB = &infrav1.LoadBalancerClassSpec{IdleTimeoutInMinutes: new(int32(60))}
		}},
		"cluster role": {reason: "a subnet for everything will do", change: func(n *infrav1.NetworkTemplateSpec) {
			n.Subnets = infrav1.SubnetTemplatesSpec{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetCluster}}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			template := &object{}
			tc.change(&template.Spec.Template.Spec.NetworkSpec)
			defaults.FillAzureClusterTemplate(template)
			var want []string
			for _, path := range tc.want {
				want = append(want, "spec.template.spec.networkSpec."+path)
			}
			if diff := cmp.Diff(want, errorPaths(ValidateAzureClusterTemplate(template, plan.Features{})), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateAzureClusterTemplateUpdate(t *testing.T) {
	old := &infrav1.AzureClusterTemplate{}
	defaults.FillAzureClusterTemplate(old)
	labelled := old.DeepCopy()
	labelled.Labels = map[string]string{"a": "b"}
	if errs := validateUpdate(t, clusterTemplates(plan.Features{}), old, labelled); len(errs) > 0 {
		t.Errorf("labels are free: %v", errs)
	}
	moved := old.DeepCopy()
	moved.Spec.Template.Spec.Location = "northeurope"
	if diff := cmp.Diff([]string{"spec.template.spec: FieldValueForbidden"},
		errorPaths(validateUpdate(t, clusterTemplates(plan.Features{}), old, moved))); diff != "" {
		t.Errorf("clusters were made from it: -want +got\n%s", diff)
	}
}
