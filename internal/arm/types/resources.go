package types

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// Names of the types of resource groups, identities and authorization.
const (
	ResourceGroup        = arm.ResourceGroupType
	RoleAssignment       = "Microsoft.Authorization/roleAssignments"
	UserAssignedIdentity = "Microsoft.ManagedIdentity/userAssignedIdentities"
)

// API versions of requests about more than one resource.
const (
	// TagsAPIVersion is the api-version of Microsoft.Resources/tags, which merges tags into any resource.
	TagsAPIVersion = "2021-04-01"
	// ResourcesAPIVersion is the api-version of the list of all resources of a group.
	ResourcesAPIVersion = "2021-04-01"
)

var resourceTypes = []Type{
	// Groups are read one by one: their collection is the whole subscription.
	{Name: ResourceGroup, APIVersion: "2021-04-01", ChangesOnlyOnWrite: true, Taggable: true, ReadIndividually: true, DeleteRank: 100},
	// The collection of a scope includes inherited assignments. Assignments cannot be changed, only created and deleted:
	// https://learn.microsoft.com/en-us/azure/role-based-access-control/role-assignments-rest
	{Name: RoleAssignment, APIVersion: "2022-04-01", ReadIndividually: true, DeleteRank: 5,
		OwnerReferences: []string{"properties.principalId"}, OwnedByReference: true},
	{Name: UserAssignedIdentity, APIVersion: "2024-11-30", Taggable: true, DeleteRank: 80},
}
