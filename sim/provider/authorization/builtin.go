package authorization

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// Role is a built-in role: its name and the actions that it allows.
type Role struct {
	Name                string
	Actions, NotActions []string
	// DataActions are allowed on the data in resources.
	DataActions []string
}

// BuiltIn are the built-in roles that are served, by GUID. Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var BuiltIn = map[string]Role{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": {Name: "Owner", Actions: []string{"*"}},
	"b24988ac-6180-42a0-ab88-20f7382dd24c": {Name: "Contributor", Actions: []string{"*"}, NotActions: []string{
		"Microsoft.Authorization/*/Delete", "Microsoft.Authorization/*/Write", "Microsoft.Authorization/elevateAccess/Action",
		"Microsoft.Blueprint/blueprintAssignments/write", "Microsoft.Blueprint/blueprintAssignments/delete",
		"Microsoft.Compute/galleries/share/action", "Microsoft.Purview/consents/write", "Microsoft.Purview/consents/delete",
	}},
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": {Name: "Reader", Actions: []string{"*/read"}},
	"7f951dda-4ed3-4680-a7ca-43fe172d538d": {Name: "AcrPull", Actions: []string{"Microsoft.ContainerRegistry/registries/pull/read"}},
	"4d97b98b-1d4f-4787-a291-c67834d212e7": {Name: "Network Contributor", Actions: withSharedActions("Microsoft.Network/*")},
	"f1a07417-d97a-45cb-824c-7a7467783830": {Name: "Managed Identity Operator",
		Actions: withSharedActions("Microsoft.ManagedIdentity/userAssignedIdentities/*/read",
			"Microsoft.ManagedIdentity/userAssignedIdentities/*/assign/action")},
	"b12aa53e-6015-4669-85d0-8515ebb3ae7f": {Name: "Private DNS Zone Contributor",
		Actions: withSharedActions("Microsoft.Network/privateDnsZones/*", "Microsoft.Network/privateDnsOperationResults/*",
			"Microsoft.Network/privateDnsOperationStatuses/*", "Microsoft.Network/virtualNetworks/read",
			"Microsoft.Network/virtualNetworks/join/action")},
	"9980e02c-c2be-4d73-94e8-173b1dc7cf3c": {Name: "Virtual Machine Contributor",
		Actions: withSharedActions("Microsoft.Compute/availabilitySets/*", "Microsoft.Compute/locations/*", "Microsoft.Compute/virtualMachines/*",
			"Microsoft.Compute/virtualMachineScaleSets/*", "Microsoft.Compute/cloudServices/*", "Microsoft.Compute/disks/write",
			"Microsoft.Compute/disks/read", "Microsoft.Compute/disks/delete",
			"Microsoft.Network/applicationGateways/backendAddressPools/join/action",
			"Microsoft.Network/loadBalancers/backendAddressPools/join/action",
			"Microsoft.Network/loadBalancers/inboundNatPools/join/action", "Microsoft.Network/loadBalancers/inboundNatRules/join/action",
			"Microsoft.Network/loadBalancers/probes/join/action",
			"Microsoft.Network/loadBalancers/read", "Microsoft.Network/locations/*", "Microsoft.Network/networkInterfaces/*",
			"Microsoft.Network/networkSecurityGroups/join/action",
			"Microsoft.Network/networkSecurityGroups/read", "Microsoft.Network/publicIPAddresses/join/action",
			"Microsoft.Network/publicIPAddresses/read",
			"Microsoft.Network/virtualNetworks/read", "Microsoft.Network/virtualNetworks/subnets/join/action",
			"Microsoft.Storage/storageAccounts/listKeys/action", "Microsoft.Storage/storageAccounts/read")},
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": {Name: "User Access Administrator",
		Actions: []string{"*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"}},
	"17d1049b-9a84-46fb-8f53-869881c3d3ab": {Name: "Storage Account Contributor",
		Actions: withSharedActions("Microsoft.Storage/storageAccounts/*", "Microsoft.Insights/diagnosticSettings/*",
			"Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action")},
	"0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8": {Name: "Azure Kubernetes Service Cluster Admin Role",
		Actions: []string{"Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action",
			"Microsoft.ContainerService/managedClusters/accessProfiles/listCredential/action", "Microsoft.ContainerService/managedClusters/read",
			"Microsoft.ContainerService/managedClusters/runcommand/action"}},
	"12338af0-0e69-4776-bea7-57ae8d297424": {Name: "Key Vault Crypto User",
		DataActions: []string{"Microsoft.KeyVault/vaults/keys/read", "Microsoft.KeyVault/vaults/keys/update/action",
			"Microsoft.KeyVault/vaults/keys/backup/action",
			"Microsoft.KeyVault/vaults/keys/encrypt/action", "Microsoft.KeyVault/vaults/keys/decrypt/action",
			"Microsoft.KeyVault/vaults/keys/wrap/action", "Microsoft.KeyVault/vaults/keys/unwrap/action",
			"Microsoft.KeyVault/vaults/keys/sign/action", "Microsoft.KeyVault/vaults/keys/verify/action"}},
	"ba92f5b4-2d11-453d-a403-e96b0029c9fe": {Name: "Storage Blob Data Contributor",
		Actions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/delete",
			"Microsoft.Storage/storageAccounts/blobServices/containers/read",
			"Microsoft.Storage/storageAccounts/blobServices/containers/write",
			"Microsoft.Storage/storageAccounts/blobServices/generateUserDelegationKey/action"},
		DataActions: []string{"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/delete",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/write",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/move/action",
			"Microsoft.Storage/storageAccounts/blobServices/containers/blobs/add/action"}},
}

// withSharedActions adds the actions that most contributors of one service share to its own.
func withSharedActions(actions ...string) []string {
	return append(actions, "Microsoft.Authorization/*/read", "Microsoft.Insights/alertRules/*",
		"Microsoft.ResourceHealth/availabilityStatuses/read",
		"Microsoft.Resources/deployments/*", "Microsoft.Resources/subscriptions/resourceGroups/read", "Microsoft.Support/*")
}

func renderDefinition(guid string) body.Object {
	role := BuiltIn[guid]
	return body.Object{
		"id": "/providers/" + Definitions + "/" + guid, "name": guid, "type": Definitions,
		"properties": body.Object{"roleName": role.Name, "type": "BuiltInRole", "description": role.Name, "assignableScopes": []any{"/"},
			"createdOn": "2015-02-02T21:55:09.8806423Z", "updatedOn": "2023-12-05T16:41:12.6018060Z", "createdBy": nil, "updatedBy": nil,
			"permissions": []any{body.Object{"actions": toAnyList(role.Actions), "notActions": toAnyList(role.NotActions),
				"dataActions": toAnyList(role.DataActions), "notDataActions": []any{}}}},
	}
}

func toAnyList(texts []string) []any {
	out := []any{}
	for _, text := range texts {
		out = append(out, text)
	}
	return out
}

// ListRoles lists the role definitions that can be seen at a scope, for the collection's $filter.
func ListRoles(c *provider.Call) []any {
	_, rest, named := strings.Cut(strings.ToLower(c.Query.Get("$filter")), "rolename eq '")
	want, _, _ := strings.Cut(rest, "'")
	guids := []string{}
	for g := range BuiltIn {
		guids = append(guids, g)
	}
	slices.Sort(guids)
	out := []any{}
	for _, g := range guids {
		if !named || strings.ToLower(BuiltIn[g].Name) == want {
			out = append(out, renderDefinition(g))
		}
	}
	for _, r := range c.List(Definitions, "") {
		if !named || strings.EqualFold(body.String(r.Body, "properties.roleName"), want) {
			out = append(out, c.RenderResource(r))
		}
	}
	return out
}

// BuiltInDefinition returns a built-in role definition, or nil.
func BuiltInDefinition(guid string) body.Object {
	guid = strings.ToLower(guid)
	if _, ok := BuiltIn[guid]; !ok {
		return nil
	}
	return renderDefinition(guid)
}
