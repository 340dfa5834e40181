package server_test

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
)

func guidOf(name string) string { return "00000000-0000-0000-0000-0000000000" + name }

// resourceTypes returns the SDK calls on resource groups and on generic resources.
func (a *azure) resourceTypes() []sdkType {
	made, err := armresources.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	groups, deployments := f.NewResourceGroupsClient(), f.NewDeploymentsClient()
	authorization, err := armauthorization.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	assignments := mustMake(a, authorization, err).NewRoleAssignmentsClient()
	return []sdkType{
		{"Microsoft.Resources/resourceGroups", 0,
			immediateCall(func(ctx context.Context, name string) (armresources.ResourceGroupsClientCreateOrUpdateResponse, error) {
				return groups.CreateOrUpdate(ctx, name, armresources.ResourceGroup{Location: new("westus3")}, nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armresources.ResourceGroupsClientGetResponse, error) {
				return groups.Get(ctx, name, nil)
			}),
			countPaged(func() *runtime.Pager[armresources.ResourceGroupsClientListResponse] {
				return groups.NewListPager(nil)
			}, func(p armresources.ResourceGroupsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armresources.ResourceGroupsClientDeleteResponse],
				error) {
				return groups.BeginDelete(ctx, name, &armresources.ResourceGroupsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Resources/deployments", 0,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armresources.DeploymentsClientCreateOrUpdateResponse],
				error) {
				return deployments.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armresources.Deployment](a,
						obj{"properties": obj{"mode": "Incremental",
							"template": obj{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
								"contentVersion": "1.0.0.0", "resources": []obj{}}}}),
					&armresources.DeploymentsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armresources.DeploymentsClientGetResponse, error) {
				return deployments.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armresources.DeploymentsClientListByResourceGroupResponse] {
				return deployments.NewListByResourceGroupPager("rg", nil)
			}, func(p armresources.DeploymentsClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armresources.DeploymentsClientDeleteResponse], error) {
				return deployments.BeginDelete(ctx, "rg", name, &armresources.DeploymentsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Authorization/roleAssignments", 0,
			immediateCall(func(ctx context.Context, name string) (armauthorization.RoleAssignmentsClientCreateResponse, error) {
				return assignments.Create(ctx, groupA, guidOf(name),
					decodeModel[armauthorization.RoleAssignmentCreateParameters](a,
						obj{"properties": obj{"principalId": guidOf(name), "principalType": "ServicePrincipal",
							"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"}}), nil)
			}),
			immediateCall(func(ctx context.Context, name string) (armauthorization.RoleAssignmentsClientGetResponse, error) {
				return assignments.Get(ctx, groupA, guidOf(name), nil)
			}),
			countPaged(func() *runtime.Pager[armauthorization.RoleAssignmentsClientListForScopeResponse] {
				return assignments.NewListForScopePager(groupA, nil)
			}, func(p armauthorization.RoleAssignmentsClientListForScopeResponse) int { return len(p.Value) }),
			immediateCall(func(ctx context.Context, name string) (armauthorization.RoleAssignmentsClientDeleteResponse, error) {
				return assignments.Delete(ctx, groupA, guidOf(name), nil)
			})},
	}
}

// linkTypes returns those of Microsoft.Network that need a cluster or a zone.
func (a *azure) linkTypes() []sdkType {
	made, err := armnetwork.NewClientFactory(sub, a.tokenCredential(), a.armOptions())
	f := mustMake(a, made, err)
	endpoints, zoneGroups, bastions := f.NewPrivateEndpointsClient(), f.NewPrivateDNSZoneGroupsClient(), f.NewBastionHostsClient()
	bastion := func(name string) obj {
		// One network has one host, in the subnet that is for it.
		network := "Microsoft.Network/virtualNetworks/peer" + name
		a.mustSucceed("PUT", groupA+"/providers/"+network+"/subnets/AzureBastionSubnet",
			obj{"properties": obj{"addressPrefix": "172." + octetOf(name) + "6.0.0/26"}})
		a.mustSucceed("PUT", groupA+"/providers/Microsoft.Network/publicIPAddresses/bastion"+name,
			obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"publicIPAllocationMethod": "Static"}})
		return obj{"location": "westus3", "sku": obj{"name": "Basic"},
			"properties": obj{"ipConfigurations": []obj{{"name": "first", "properties": obj{
				"subnet":          inGroup(network + "/subnets/AzureBastionSubnet"),
				"publicIPAddress": inGroup("Microsoft.Network/publicIPAddresses/bastion" + name)}}}}}
	}
	return []sdkType{
		{"Microsoft.Network/privateEndpoints", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.PrivateEndpointsClientCreateOrUpdateResponse], error) {
				return endpoints.BeginCreateOrUpdate(ctx, "rg", name,
					decodeModel[armnetwork.PrivateEndpoint](a,
						obj{"location": "westus3", "properties": obj{"subnet": inGroup("Microsoft.Network/virtualNetworks/aa/subnets/aa"),
							"privateLinkServiceConnections": []obj{{"name": "link",
								"properties": obj{"privateLinkServiceId": groupA + "/providers/Microsoft.ContainerService/managedClusters/aa",
									"groupIds": []string{"management"}}}}}}),
					&armnetwork.PrivateEndpointsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.PrivateEndpointsClientGetResponse, error) {
				return endpoints.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.PrivateEndpointsClientListResponse] {
				return endpoints.NewListPager("rg", nil)
			}, func(p armnetwork.PrivateEndpointsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.PrivateEndpointsClientDeleteResponse],
				error) {
				return endpoints.BeginDelete(ctx, "rg", name, &armnetwork.PrivateEndpointsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/privateEndpoints/privateDnsZoneGroups", 412,
			longRunningCall(a, func(ctx context.Context, name,
				token string) (*runtime.Poller[armnetwork.PrivateDNSZoneGroupsClientCreateOrUpdateResponse], error) {
				return zoneGroups.BeginCreateOrUpdate(ctx, "rg", "aa", name,
					decodeModel[armnetwork.PrivateDNSZoneGroup](a,
						obj{"properties": obj{"privateDnsZoneConfigs": []obj{{"name": "zone",
							"properties": obj{"privateDnsZoneId": groupA + "/providers/Microsoft.Network/privateDnsZones/aa.example.com"}}}}}),
					&armnetwork.PrivateDNSZoneGroupsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.PrivateDNSZoneGroupsClientGetResponse, error) {
				return zoneGroups.Get(ctx, "rg", "aa", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.PrivateDNSZoneGroupsClientListResponse] {
				return zoneGroups.NewListPager("aa", "rg", nil)
			}, func(p armnetwork.PrivateDNSZoneGroupsClientListResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.PrivateDNSZoneGroupsClientDeleteResponse],
				error) {
				return zoneGroups.BeginDelete(ctx, "rg", "aa", name, &armnetwork.PrivateDNSZoneGroupsClientBeginDeleteOptions{ResumeToken: token})
			})},
		{"Microsoft.Network/bastionHosts", 412,
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.BastionHostsClientCreateOrUpdateResponse],
				error) {
				return bastions.BeginCreateOrUpdate(ctx, "rg", name, decodeModel[armnetwork.BastionHost](a, bastion(name)),
					&armnetwork.BastionHostsClientBeginCreateOrUpdateOptions{ResumeToken: token})
			}),
			immediateCall(func(ctx context.Context, name string) (armnetwork.BastionHostsClientGetResponse, error) {
				return bastions.Get(ctx, "rg", name, nil)
			}),
			countPaged(func() *runtime.Pager[armnetwork.BastionHostsClientListByResourceGroupResponse] {
				return bastions.NewListByResourceGroupPager("rg", nil)
			}, func(p armnetwork.BastionHostsClientListByResourceGroupResponse) int { return len(p.Value) }),
			longRunningCall(a, func(ctx context.Context, name, token string) (*runtime.Poller[armnetwork.BastionHostsClientDeleteResponse], error) {
				return bastions.BeginDelete(ctx, "rg", name, &armnetwork.BastionHostsClientBeginDeleteOptions{ResumeToken: token})
			})},
	}
}
