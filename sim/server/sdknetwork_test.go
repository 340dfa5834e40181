package server_test

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
)

// octetOf distinguishes the two names of a type in addresses and priorities.
func octetOf(name string) string { return map[string]string{"aa": "1", "bb": "2"}[name] }

func numberOf(name string) int { return map[string]int{"aa": 101, "bb": 102}[name] }

// networkTypes returns the types of Microsoft.Network, each after its dependencies.
func (a *azure) networkTypes() []sdkType {
	made, err := armnetwork.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	vnets, subnets := f.NewVirtualNetworksClient(), f.NewSubnetsClient()
	groups, rules, tables, routes := f.NewSecurityGroupsClient(), f.NewSecurityRulesClient(), f.NewRouteTablesClient(), f.NewRoutesClient()
	ips, prefixes, nats, lbs := f.NewPublicIPAddressesClient(), f.NewPublicIPPrefixesClient(), f.NewNatGatewaysClient(),
		f.NewLoadBalancersClient()
	natRules, pools, nics, applications := f.NewInboundNatRulesClient(), f.NewLoadBalancerBackendAddressPoolsClient(), f.NewInterfacesClient(),
		f.NewApplicationSecurityGroupsClient()
	peerings := f.NewVirtualNetworkPeeringsClient()
	ipGroups, gateways := f.NewIPGroupsClient(), f.NewServiceGatewaysClient()
	for _, name := range []string{"peeraa", "peerbb"} {
		a.mustSucceed("PUT", groupA+"/providers/Microsoft.Network/virtualNetworks/"+name,
			obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []string{"172." + octetOf(name[4:]) + "6.0.0/16"}}}})
	}
	return []sdkType{
		{"Microsoft.Network/virtualNetworks", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.VirtualNetworksClientCreateOrUpdateResponse], error) {
				return vnets.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.VirtualNetwork](a,
						obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []string{"10." + octetOf(name) + ".0.0/16"}}}}),
					&armnetwork.VirtualNetworksClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.VirtualNetworksClientGetResponse, error) {
				return vnets.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.VirtualNetworksClientListResponse] {
				return vnets.NewListPager("rg", nil)
			}, func(p armnetwork.VirtualNetworksClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.VirtualNetworksClientDeleteResponse],
				error) {
				return vnets.BeginDelete(ctx, "rg", name, &armnetwork.VirtualNetworksClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/networkSecurityGroups", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SecurityGroupsClientCreateOrUpdateResponse],
				error) {
				return groups.BeginCreateOrUpdate(ctx, "rg", name, armnetwork.SecurityGroup{Location: new("westus3")},
					&armnetwork.SecurityGroupsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.SecurityGroupsClientGetResponse, error) {
				return groups.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.SecurityGroupsClientListResponse] {
				return groups.NewListPager("rg", nil)
			}, func(p armnetwork.SecurityGroupsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SecurityGroupsClientDeleteResponse],
				error) {
				return groups.BeginDelete(ctx, "rg", name, &armnetwork.SecurityGroupsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/networkSecurityGroups/securityRules", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SecurityRulesClientCreateOrUpdateResponse],
				error) {
				return rules.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.SecurityRule](a, obj{"properties": obj{"protocol": "Tcp", "sourcePortRange": "*", "destinationPortRange": "22",
						"sourceAddressPrefix": "*", "destinationAddressPrefix": "*", "access": "Allow", "direction": "Inbound", "priority": numberOf(name)}}),
					&armnetwork.SecurityRulesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.SecurityRulesClientGetResponse, error) {
				return rules.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.SecurityRulesClientListResponse] {
				return rules.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.SecurityRulesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SecurityRulesClientDeleteResponse], error) {
				return rules.BeginDelete(ctx, "rg", "aa", name, &armnetwork.SecurityRulesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/ipGroups", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.IPGroupsClientCreateOrUpdateResponse],
				error) {
				return ipGroups.BeginCreateOrUpdate(ctx, "rg", name, decodeModel[armnetwork.IPGroup](a, obj{"location": "westus3", "properties": obj{"ipAddresses": []string{"10.0.0.0/8"}}}),
					&armnetwork.IPGroupsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.IPGroupsClientGetResponse, error) {
				return ipGroups.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.IPGroupsClientListByResourceGroupResponse] {
				return ipGroups.NewListByResourceGroupPager("rg", nil)
			},
				func(p armnetwork.IPGroupsClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.IPGroupsClientDeleteResponse], error) {
				return ipGroups.BeginDelete(ctx, "rg", name, &armnetwork.IPGroupsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/serviceGateways", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.ServiceGatewaysClientCreateOrUpdateResponse],
				error) {
				return gateways.BeginCreateOrUpdate(ctx, "rg", name, decodeModel[armnetwork.ServiceGateway](a, obj{"location": "westus3"}),
					&armnetwork.ServiceGatewaysClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.ServiceGatewaysClientGetResponse, error) {
				return gateways.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.ServiceGatewaysClientListResponse] {
				return gateways.NewListPager("rg", nil)
			},
				func(p armnetwork.ServiceGatewaysClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.ServiceGatewaysClientDeleteResponse], error) {
				return gateways.BeginDelete(ctx, "rg", name, &armnetwork.ServiceGatewaysClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/routeTables", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.RouteTablesClientCreateOrUpdateResponse],
				error) {
				return tables.BeginCreateOrUpdate(ctx, "rg", name, armnetwork.RouteTable{Location: new("westus3")},
					&armnetwork.RouteTablesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.RouteTablesClientGetResponse, error) {
				return tables.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.RouteTablesClientListResponse] { return tables.NewListPager("rg", nil) },
				func(p armnetwork.RouteTablesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.RouteTablesClientDeleteResponse], error) {
				return tables.BeginDelete(ctx, "rg", name, &armnetwork.RouteTablesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/routeTables/routes", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.RoutesClientCreateOrUpdateResponse],
				error) {
				return routes.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.Route](a,
						obj{"properties": obj{"addressPrefix": "192.168." + octetOf(name) + ".0/24", "nextHopType": "VnetLocal"}}),
					&armnetwork.RoutesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.RoutesClientGetResponse, error) {
				return routes.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.RoutesClientListResponse] {
				return routes.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.RoutesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.RoutesClientDeleteResponse], error) {
				return routes.BeginDelete(ctx, "rg", "aa", name, &armnetwork.RoutesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/publicIPAddresses", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.PublicIPAddressesClientCreateOrUpdateResponse], error) {
				return ips.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.PublicIPAddress](a,
						obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"publicIPAllocationMethod": "Static"}}),
					&armnetwork.PublicIPAddressesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.PublicIPAddressesClientGetResponse, error) {
				return ips.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.PublicIPAddressesClientListResponse] {
				return ips.NewListPager("rg", nil)
			}, func(p armnetwork.PublicIPAddressesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.PublicIPAddressesClientDeleteResponse],
				error) {
				return ips.BeginDelete(ctx, "rg", name, &armnetwork.PublicIPAddressesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/publicIPPrefixes", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.PublicIPPrefixesClientCreateOrUpdateResponse], error) {
				return prefixes.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.PublicIPPrefix](a,
						obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"prefixLength": 30}}),
					&armnetwork.PublicIPPrefixesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.PublicIPPrefixesClientGetResponse, error) {
				return prefixes.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.PublicIPPrefixesClientListResponse] {
				return prefixes.NewListPager("rg", nil)
			}, func(p armnetwork.PublicIPPrefixesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.PublicIPPrefixesClientDeleteResponse],
				error) {
				return prefixes.BeginDelete(ctx, "rg", name, &armnetwork.PublicIPPrefixesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/natGateways", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.NatGatewaysClientCreateOrUpdateResponse],
				error) {
				return nats.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.NatGateway](a, obj{"location": "westus3", "sku": obj{"name": "Standard"}}),
					&armnetwork.NatGatewaysClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.NatGatewaysClientGetResponse, error) {
				return nats.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.NatGatewaysClientListResponse] { return nats.NewListPager("rg", nil) },
				func(p armnetwork.NatGatewaysClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.NatGatewaysClientDeleteResponse], error) {
				return nats.BeginDelete(ctx, "rg", name, &armnetwork.NatGatewaysClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/virtualNetworks/subnets", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SubnetsClientCreateOrUpdateResponse],
				error) {
				return subnets.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.Subnet](a, obj{"properties": obj{"addressPrefix": "10.1." + octetOf(name) + ".0/24"}}),
					&armnetwork.SubnetsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.SubnetsClientGetResponse, error) {
				return subnets.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.SubnetsClientListResponse] {
				return subnets.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.SubnetsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.SubnetsClientDeleteResponse], error) {
				return subnets.BeginDelete(ctx, "rg", "aa", name, &armnetwork.SubnetsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/applicationSecurityGroups", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.ApplicationSecurityGroupsClientCreateOrUpdateResponse], error) {
				return applications.BeginCreateOrUpdate(ctx, "rg", name, armnetwork.ApplicationSecurityGroup{Location: new("westus3")},
					&armnetwork.ApplicationSecurityGroupsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.ApplicationSecurityGroupsClientGetResponse, error) {
				return applications.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.ApplicationSecurityGroupsClientListResponse] {
				return applications.NewListPager("rg", nil)
			}, func(p armnetwork.ApplicationSecurityGroupsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.ApplicationSecurityGroupsClientDeleteResponse], error) {
				return applications.BeginDelete(ctx, "rg", name, &armnetwork.ApplicationSecurityGroupsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/loadBalancers", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.LoadBalancersClientCreateOrUpdateResponse],
				error) {
				return lbs.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.LoadBalancer](a, obj{"location": "westus3", "sku": obj{"name": "Standard"},
						"properties": obj{"frontendIPConfigurations": []obj{{"name": "fe",
							"properties": obj{"publicIPAddress": inGroup("Microsoft.Network/publicIPAddresses/" + name)}}}}}),
					&armnetwork.LoadBalancersClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.LoadBalancersClientGetResponse, error) {
				return lbs.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.LoadBalancersClientListResponse] { return lbs.NewListPager("rg", nil) },
				func(p armnetwork.LoadBalancersClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.LoadBalancersClientDeleteResponse], error) {
				return lbs.BeginDelete(ctx, "rg", name, &armnetwork.LoadBalancersClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/loadBalancers/inboundNatRules", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.InboundNatRulesClientCreateOrUpdateResponse], error) {
				return natRules.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.InboundNatRule](a,
						obj{"properties": obj{"protocol": "Tcp", "frontendPort": 2200 + numberOf(name), "backendPort": 22,
							"frontendIPConfiguration": inGroup("Microsoft.Network/loadBalancers/aa/frontendIPConfigurations/fe")}}),
					&armnetwork.InboundNatRulesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.InboundNatRulesClientGetResponse, error) {
				return natRules.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.InboundNatRulesClientListResponse] {
				return natRules.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.InboundNatRulesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.InboundNatRulesClientDeleteResponse],
				error) {
				return natRules.BeginDelete(ctx, "rg", "aa", name, &armnetwork.InboundNatRulesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/loadBalancers/backendAddressPools", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.LoadBalancerBackendAddressPoolsClientCreateOrUpdateResponse], error) {
				return pools.BeginCreateOrUpdate(ctx, "rg", "aa", name, armnetwork.BackendAddressPool{},
					&armnetwork.LoadBalancerBackendAddressPoolsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.LoadBalancerBackendAddressPoolsClientGetResponse, error) {
				return pools.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.LoadBalancerBackendAddressPoolsClientListResponse] {
				return pools.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.LoadBalancerBackendAddressPoolsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.LoadBalancerBackendAddressPoolsClientDeleteResponse], error) {
				return pools.BeginDelete(ctx, "rg", "aa", name, &armnetwork.LoadBalancerBackendAddressPoolsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/networkInterfaces", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.InterfacesClientCreateOrUpdateResponse],
				error) {
				return nics.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.Interface](a, obj{"location": "westus3", "properties": obj{"ipConfigurations": []obj{{"name": "first",
						"properties": obj{"subnet": inGroup("Microsoft.Network/virtualNetworks/aa/subnets/aa")}}}}}),
					&armnetwork.InterfacesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.InterfacesClientGetResponse, error) {
				return nics.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.InterfacesClientListResponse] { return nics.NewListPager("rg", nil) },
				func(p armnetwork.InterfacesClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.InterfacesClientDeleteResponse], error) {
				return nics.BeginDelete(ctx, "rg", name, &armnetwork.InterfacesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/virtualNetworks/virtualNetworkPeerings", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.VirtualNetworkPeeringsClientCreateOrUpdateResponse], error) {
				return peerings.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.VirtualNetworkPeering](a,
						obj{"properties": obj{"remoteVirtualNetwork": inGroup("Microsoft.Network/virtualNetworks/peer" + name)}}),
					&armnetwork.VirtualNetworkPeeringsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.VirtualNetworkPeeringsClientGetResponse, error) {
				return peerings.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.VirtualNetworkPeeringsClientListResponse] {
				return peerings.NewListPager("rg", "aa", nil)
			}, func(p armnetwork.VirtualNetworkPeeringsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.VirtualNetworkPeeringsClientDeleteResponse],
				error) {
				return peerings.BeginDelete(ctx, "rg", "aa", name, &armnetwork.VirtualNetworkPeeringsClientBeginDeleteOptions{ResumeToken: token})
			})},
	}
}
