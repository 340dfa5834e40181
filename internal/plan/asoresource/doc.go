// Package document plans the documents of spec.resources of the AzureASOManaged kinds. A document is an object of the Azure
// Service Operator as users write it: apiVersion, kind, name, and a spec that is flat where Azure's own body has "properties".
// No such object exists here; every document becomes one node of a plan.
//
// Kinds, api-versions and properties are those of Azure's definitions. Owners and references are names of other documents of the
// same Cluster, or IDs of Azure resources; IDs are computed from names, before anything exists.
//
// The package is pure. No value of a document or Secret appears in an error: messages name paths, types and allowed values.
package asoresource
