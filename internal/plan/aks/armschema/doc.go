// Package armschema describes the properties of the bodies of Azure's managedClusters and agentPools by path: type, values, default,
// whether they can be set and changed, and the api-versions that have them.
//
// The properties come from Azure's definitions (internal/arm/schema). Notes, generated from the comments in Azure's SDK by
// hack/armschema, add defaults, formats, and which properties cannot change. The package is pure.
//
// Any api-version may be asked for. An unknown one is described by the next newer definition, else by the newest.
//
// There are two kinds of paths. A property path is a place in every body. It is dotted, with "[]" for the items of a list and "*"
// for the entries of a map, as in "properties.addonProfiles.*.enabled". No JSON name of the tables has a dot. A leaf path is a value
// in one body. It is a JSON pointer (RFC 6901), as in "/properties/nodeLabels/example.com~1team", so that keys of maps may have any
// character.
package armschema
