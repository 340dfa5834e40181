package server_test

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservicefleet/armcontainerservicefleet"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kubernetesconfiguration/armkubernetesconfiguration/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"
)

// recordSets are bodies of record sets by their type.
var recordSets = map[armprivatedns.RecordType]func(name string) obj{
	armprivatedns.RecordTypeA: func(name string) obj { return newRecordSet("aRecords", obj{"ipv4Address": "10.0.0." + octetOf(name)}) },
	armprivatedns.RecordTypeAAAA: func(name string) obj {
		return newRecordSet("aaaaRecords", obj{"ipv6Address": "fd00::" + octetOf(name)})
	},
	armprivatedns.RecordTypeCNAME: func(name string) obj {
		return obj{"properties": obj{"ttl": 300, "cnameRecord": obj{"cname": name + ".example.org"}}}
	},
	armprivatedns.RecordTypeMX: func(name string) obj {
		return newRecordSet("mxRecords", obj{"preference": 10, "exchange": name + ".example.org"})
	},
	armprivatedns.RecordTypePTR: func(name string) obj { return newRecordSet("ptrRecords", obj{"ptrdname": name + ".example.org"}) },
	armprivatedns.RecordTypeSRV: func(name string) obj {
		return newRecordSet("srvRecords", obj{"priority": 1, "weight": 1, "port": 443, "target": name + ".example.org"})
	},
	armprivatedns.RecordTypeTXT: func(name string) obj { return newRecordSet("txtRecords", obj{"value": []string{name}}) },
}

func newRecordSet(field string, record obj) obj {
	return obj{"properties": obj{"ttl": 300, field: []obj{record}}}
}

// zoneTypes returns the types of private DNS zones, each after its dependencies.
func (a *azure) zoneTypes() []sdkType {
	made, err := armprivatedns.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	zones, links, sets := f.NewPrivateZonesClient(), f.NewVirtualNetworkLinksClient(), f.NewRecordSetsClient()
	zone := func(name string) string { return name + ".example.com" }
	types := []sdkType{
		{"Microsoft.Network/privateDnsZones", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armprivatedns.PrivateZonesClientCreateOrUpdateResponse], error) {
				return zones.BeginCreateOrUpdate(ctx, "rg", zone(name), armprivatedns.PrivateZone{Location: new("global")},
					&armprivatedns.PrivateZonesClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armprivatedns.PrivateZonesClientGetResponse, error) {
				return zones.Get(ctx, "rg", zone(name), nil)
			}),
			countPaged(func() *runtime.Pager[armprivatedns.PrivateZonesClientListByResourceGroupResponse] {
				return zones.NewListByResourceGroupPager("rg", nil)
			}, func(p armprivatedns.PrivateZonesClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armprivatedns.PrivateZonesClientDeleteResponse],
				error) {
				return zones.BeginDelete(ctx, "rg", zone(name), &armprivatedns.PrivateZonesClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/privateDnsZones/virtualNetworkLinks", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armprivatedns.VirtualNetworkLinksClientCreateOrUpdateResponse], error) {
				return links.BeginCreateOrUpdate(ctx, "rg", zone("aa"), name,
					decodeModel[armprivatedns.VirtualNetworkLink](a,
						obj{"location": "global",
							"properties": obj{"registrationEnabled": false, "virtualNetwork": inGroup("Microsoft.Network/virtualNetworks/" + name)}}),
					&armprivatedns.VirtualNetworkLinksClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armprivatedns.VirtualNetworkLinksClientGetResponse, error) {
				return links.Get(ctx, "rg", zone("aa"), name, nil)
			}),
			countPaged(func() *runtime.Pager[armprivatedns.VirtualNetworkLinksClientListResponse] {
				return links.NewListPager("rg", zone("aa"), nil)
			}, func(p armprivatedns.VirtualNetworkLinksClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armprivatedns.VirtualNetworkLinksClientDeleteResponse],
				error) {
				return links.BeginDelete(ctx, "rg", zone("aa"), name, &armprivatedns.VirtualNetworkLinksClientBeginDeleteOptions{ResumeToken: token})
			})},
	}
	for kind, of := range recordSets {
		types = append(types, sdkType{"Microsoft.Network/privateDnsZones/" + string(kind), 412,
			immediateCall(func(ctx context.Context, name string) (armprivatedns.RecordSetsClientCreateOrUpdateResponse, error) {
				return sets.CreateOrUpdate(ctx, "rg", zone("aa"), kind, name, decodeModel[armprivatedns.RecordSet](a, of(name)), nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armprivatedns.RecordSetsClientGetResponse, error) {
				return sets.Get(ctx, "rg", zone("aa"), kind, name, nil)
			}),
			countPaged(func() *runtime.Pager[armprivatedns.RecordSetsClientListByTypeResponse] {
				return sets.NewListByTypePager("rg", zone("aa"), kind, nil)
			}, func(p armprivatedns.RecordSetsClientListByTypeResponse) int { return len(p.Value) }),
			immediateCall(func(ctx context.Context, name string) (armprivatedns.RecordSetsClientDeleteResponse, error) {
				return sets.Delete(ctx, "rg", zone("aa"), kind, name, nil)
			})})
	}
	return types
}

// containerTypes returns the types of Microsoft.ContainerService, each after its dependencies.
func (a *azure) containerTypes() []sdkType {
	made, err := armcontainerservice.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	clusters, pools, maintenance := f.NewManagedClustersClient(), f.NewAgentPoolsClient(), f.NewMaintenanceConfigurationsClient()
	fleetFactory, err := armcontainerservicefleet.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	g := mustMake(a, fleetFactory, err)
	fleets, members := g.NewFleetsClient(), g.NewFleetMembersClient()
	bindings := f.NewTrustedAccessRoleBindingsClient()
	configuration, err := armkubernetesconfiguration.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	extensions := mustMake(a, configuration, err).NewExtensionsClient()
	return []sdkType{
		{"Microsoft.ContainerService/managedClusters", 409,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservice.ManagedClustersClientCreateOrUpdateResponse], error) {
				return clusters.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armcontainerservice.ManagedCluster](a,
						obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}, "properties": obj{"dnsPrefix": name,
							"agentPoolProfiles": []obj{{"name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D2s_v5"}}}}),
					&armcontainerservice.ManagedClustersClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.ManagedClustersClientGetResponse, error) {
				return clusters.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservice.ManagedClustersClientListByResourceGroupResponse] {
				return clusters.NewListByResourceGroupPager("rg", nil)
			}, func(p armcontainerservice.ManagedClustersClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservice.ManagedClustersClientDeleteResponse], error) {
				return clusters.BeginDelete(ctx, "rg", name, &armcontainerservice.ManagedClustersClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.ContainerService/managedClusters/agentPools", 409,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservice.AgentPoolsClientCreateOrUpdateResponse], error) {
				return pools.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcontainerservice.AgentPool](a, obj{"properties": obj{"mode": "User", "count": 1, "vmSize": "Standard_D2s_v5"}}),
					&armcontainerservice.AgentPoolsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.AgentPoolsClientGetResponse, error) {
				return pools.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservice.AgentPoolsClientListResponse] {
				return pools.NewListPager("rg", "aa", nil)
			}, func(p armcontainerservice.AgentPoolsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcontainerservice.AgentPoolsClientDeleteResponse],
				error) {
				return pools.BeginDelete(ctx, "rg", "aa", name, &armcontainerservice.AgentPoolsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.ContainerService/managedClusters/maintenanceConfigurations", 0,
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.MaintenanceConfigurationsClientCreateOrUpdateResponse, error) {
				name = map[string]string{"aa": "aksManagedAutoUpgradeSchedule", "bb": "aksManagedNodeOSUpgradeSchedule"}[name]
				return maintenance.CreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcontainerservice.MaintenanceConfiguration](a,
						obj{"properties": obj{"maintenanceWindow": obj{"durationHours": 4, "startTime": "01:00",
							"schedule": obj{"weekly": obj{"intervalWeeks": 1, "dayOfWeek": "Monday"}}}}}), nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.MaintenanceConfigurationsClientGetResponse, error) {
				return maintenance.Get(ctx, "rg", "aa",
					map[string]string{"aa": "aksManagedAutoUpgradeSchedule", "bb": "aksManagedNodeOSUpgradeSchedule"}[name], nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservice.MaintenanceConfigurationsClientListByManagedClusterResponse] {
				return maintenance.NewListByManagedClusterPager("rg", "aa", nil)
			}, func(p armcontainerservice.MaintenanceConfigurationsClientListByManagedClusterResponse) int {
				return len(p.Value)
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.MaintenanceConfigurationsClientDeleteResponse, error) {
				return maintenance.Delete(ctx, "rg", "aa",
					map[string]string{"aa": "aksManagedAutoUpgradeSchedule", "bb": "aksManagedNodeOSUpgradeSchedule"}[name], nil)
			})},
		{"Microsoft.ContainerService/fleets", 409,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservicefleet.FleetsClientCreateOrUpdateResponse], error) {
				return fleets.BeginCreateOrUpdate(ctx, "rg", name, armcontainerservicefleet.Fleet{Location: new("westus3")},
					&armcontainerservicefleet.FleetsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservicefleet.FleetsClientGetResponse, error) {
				return fleets.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservicefleet.FleetsClientListByResourceGroupResponse] {
				return fleets.NewListByResourceGroupPager("rg", nil)
			}, func(p armcontainerservicefleet.FleetsClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armcontainerservicefleet.FleetsClientDeleteResponse],
				error) {
				return fleets.BeginDelete(ctx, "rg", name, &armcontainerservicefleet.FleetsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.ContainerService/fleets/members", 409,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservicefleet.FleetMembersClientCreateResponse], error) {
				return members.BeginCreate(ctx, "rg", "aa", name,
					decodeModel[armcontainerservicefleet.FleetMember](a,
						obj{"properties": obj{"clusterResourceId": groupA + "/providers/Microsoft.ContainerService/managedClusters/" + name}}),
					&armcontainerservicefleet.FleetMembersClientBeginCreateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservicefleet.FleetMembersClientGetResponse, error) {
				return members.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservicefleet.FleetMembersClientListByFleetResponse] {
				return members.NewListByFleetPager("rg", "aa", nil)
			}, func(p armcontainerservicefleet.FleetMembersClientListByFleetResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservicefleet.FleetMembersClientDeleteResponse], error) {
				return members.BeginDelete(ctx, "rg", "aa", name, &armcontainerservicefleet.FleetMembersClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservice.TrustedAccessRoleBindingsClientCreateOrUpdateResponse], error) {
				return bindings.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armcontainerservice.TrustedAccessRoleBinding](a,
						obj{"properties": obj{"roles": []string{"Microsoft.MachineLearningServices/workspaces/mlworkload"},
							"sourceResourceId": groupA + "/providers/Microsoft.MachineLearningServices/workspaces/" + name}}),
					&armcontainerservice.TrustedAccessRoleBindingsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armcontainerservice.TrustedAccessRoleBindingsClientGetResponse, error) {
				return bindings.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armcontainerservice.TrustedAccessRoleBindingsClientListResponse] {
				return bindings.NewListPager("rg", "aa", nil)
			}, func(p armcontainerservice.TrustedAccessRoleBindingsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armcontainerservice.TrustedAccessRoleBindingsClientDeleteResponse], error) {
				return bindings.BeginDelete(ctx, "rg", "aa", name,
					&armcontainerservice.TrustedAccessRoleBindingsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.KubernetesConfiguration/extensions", 0,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armkubernetesconfiguration.ExtensionsClientCreateResponse], error) {
				return extensions.BeginCreate(ctx, "rg", "Microsoft.ContainerService", "managedClusters", "aa", name,
					decodeModel[armkubernetesconfiguration.Extension](a,
						obj{"properties": obj{"extensionType": map[string]string{"aa": "microsoft.flux", "bb": "microsoft.dapr"}[name],
							"scope": obj{"cluster": obj{"releaseNamespace": name}}}}),
					&armkubernetesconfiguration.ExtensionsClientBeginCreateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armkubernetesconfiguration.ExtensionsClientGetResponse, error) {
				return extensions.Get(ctx, "rg", "Microsoft.ContainerService", "managedClusters", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armkubernetesconfiguration.ExtensionsClientListResponse] {
				return extensions.NewListPager("rg", "Microsoft.ContainerService", "managedClusters", "aa", nil)
			}, func(p armkubernetesconfiguration.ExtensionsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armkubernetesconfiguration.ExtensionsClientDeleteResponse], error) {
				return extensions.BeginDelete(ctx, "rg", "Microsoft.ContainerService", "managedClusters", "aa", name,
					&armkubernetesconfiguration.ExtensionsClientBeginDeleteOptions{ResumeToken: token})
			})},
	}
}
