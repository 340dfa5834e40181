// Package aso applies the patches of spec.asoManagedClusterPatches and spec.asoManagedClustersAgentPoolPatches to the bodies that
// plans send to Azure.
//
// A patch is a JSON or YAML text: a merge patch (RFC 7386) of the object of the Azure Service Operator (ASO) for a managed cluster
// or agent pool, group containerservice.azure.com. No such object exists here. Patches are translated to Azure's body. null deletes,
// lists are replaced as a whole, later patches win.
//
// The properties are those of ASO's spec. Where Azure's name or shape differs, as vnetSubnetID for vnetSubnetReference, it is
// accepted as well, except for passwords, which must not be part of a patch. References contain resource IDs (armId). Names of ASO
// objects and ConfigMaps refer to nothing and are rejected. So are keys that are unknown in the api-version in use, and properties
// of other fields, such as Kubernetes versions and counts.
//
// The package is pure. No error contains a value of a patch or Secret. Messages contain paths, types and allowed values.
package aso
