// Package asopatch applies the patches of spec.asoManagedClusterPatches and spec.asoManagedClustersAgentPoolPatches to the
// bodies that plans send to Azure.
//
// A patch is a JSON or YAML text: a merge patch (RFC 7386) against the document that the Azure Service Operator (ASO) has of a
// managed cluster or agent pool, group containerservice.azure.com. No such document exists here; patches are translated to Azure's own
// body. null deletes, lists are replaced whole, later patches win.
//
// The properties are those of ASO's spec. Where Azure's own name or shape differs, as vnetSubnetID for vnetSubnetReference, it is
// understood as well, except for passwords, which are never written into a patch. References name resources by armId; names
// of ASO objects and ConfigMaps have nothing to point to and are refused. So is every key that means nothing in the API
// version in use, and what other fields own, such as Kubernetes versions and counts.
//
// The package is pure. No value of a patch or Secret appears in an error: messages name paths, types and allowed values.
package aso
