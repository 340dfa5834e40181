// Package lent restricts the plans of objects that use a lent identity: an AzureClusterIdentity of another namespace,
// whose rights in Azure are its owner's. The writer of the object has none of these rights. So the object may only use
// resources that were created for its Cluster, and those that the identity lists.
//
// Every plan of every kind passes RestrictGraph before the engine gets it. The rules are about nodes and bodies, so that
// they hold for typed fields, patches, manifests and pools alike:
//
//   - A node below a resource of others is denied. So is a role assignment outside of the Cluster's own resource group.
//   - A body may name a resource by its ID only if the resource is the Cluster's or listed. Networks and subnets may be
//     named to join them.
//   - An existing resource that is neither the Cluster's nor listed is not adopted or used, except resource groups,
//     networks and subnets.
//
// A denial stops writes that would grant rights. It deletes and changes nothing in Azure.
//
// The package is pure. ListMissingFacts returns the resources of Azure that it has to know.
package lent
