// Package aso has the spelling of the Azure Service Operator (ASO) against Azure's: groups, kinds and versions of its objects, and
// the properties of their specs. No such object exists here. Resource manifests and patches of AKS clusters are written in ASO's
// spelling, and are translated to the bodies that plans send to Azure.
//
// # Patches
//
// A patch of spec.asoManagedClusterPatches or spec.asoManagedClustersAgentPoolPatches is a JSON or YAML text: a merge patch
// (RFC 7386) of ASO's object for a managed cluster or agent pool. null deletes, lists are replaced as a whole, later patches win.
//
// The properties are those of ASO's spec. Where Azure's name or shape differs, as vnetSubnetID for vnetSubnetReference, it is
// accepted as well, except for passwords, which must not be part of a patch. References contain resource IDs (armId). Names of ASO
// objects and ConfigMaps refer to nothing and are rejected. So are keys that are unknown in the api-version in use, and properties
// of other fields, such as Kubernetes versions and counts.
//
// The package is pure. No error contains a value of a patch or Secret. Messages contain paths, types and allowed values.
package aso
