// Package asoresource plans the resource manifests in spec.resources of the AzureASOManaged kinds. A resource manifest is an object
// of the Azure Service Operator as users write it: apiVersion, kind, name, and a spec without the level "properties" of Azure's
// body. No such object is created. Each manifest becomes one node of a plan.
//
// Kinds, api-versions and properties follow Azure's definitions. Owners and references name other manifests of the same Cluster, or
// contain IDs of Azure resources. IDs follow from names, before anything exists.
//
// The package is pure. No error contains a value of a manifest or Secret. Messages contain paths, types and allowed values.
package asoresource
