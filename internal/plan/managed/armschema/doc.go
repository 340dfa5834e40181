// Package armschema knows the properties of the bodies of Azure's managedClusters and agentPools: type, values, default,
// and whether they can be set, changed, and in which API version they exist.
//
// The tables beside it are generated from the source of Azure's SDK; see hack/armschema. The package is pure.
//
// There are two kinds of paths. A property path names a place in every body: it is dotted, "[]" stands for the items of
// a list and "*" for the entries of a map, as in "properties.addonProfiles.*.enabled". No JSON name of the tables has a dot. A
// leaf path names a value in one body: it is a JSON pointer (RFC 6901), as in "/properties/nodeLabels/example.com~1team", so that
// keys of maps may have any character.
package armschema
