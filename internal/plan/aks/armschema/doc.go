// Package armschema knows the properties of the bodies of Azure's managedClusters and agentPools by their path: type, values,
// default, whether they can be set and changed, and in which api-versions they exist.
//
// What exists is what Azure's definitions say (internal/arm/schema). Notes, generated from the comments in Azure's SDK by
// hack/armschema, add what the definitions do not tell: defaults, formats, and what cannot change. The package is pure.
//
// Every api-version may be asked for. One that the definitions do not have is told by the next newer one, or else the newest.
//
// There are two kinds of paths. A property path names a place in every body: it is dotted, "[]" stands for the items of
// a list and "*" for the entries of a map, as in "properties.addonProfiles.*.enabled". No JSON name of the tables has a dot. A
// leaf path names a value in one body: it is a JSON pointer (RFC 6901), as in "/properties/nodeLabels/example.com~1team", so that
// keys of maps may have any character.
package armschema
