// Package lent restricts what a plan may do with a lent identity: an AzureClusterIdentity of another namespace, whose rights in
// Azure are its owner's. Whoever writes the plan's object has none of these rights, so the object may only use what was created for its Cluster
// and what the identity's owner lists.
//
// Every plan of every kind passes Restrict before the engine gets it. The rules are about nodes and their bodies, so that they
// hold for typed fields, patches, documents and pools alike:
//
//   - A node that is below a resource of others is denied. So is a role that is assigned outside of the Cluster's own resource group.
//   - A body may name a resource by its ID only if that is the Cluster's or listed. Networks and subnets may be named to join them.
//   - Nothing that exists is adopted or used that is neither the Cluster's nor listed, but resource groups, networks and subnets.
//
// A denial stops writes that would give something. What exists in Azure stays as it is.
//
// The package is pure. What it has to know of Azure it asks for by Missing.
package lent
