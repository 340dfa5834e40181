// Package definitions holds Azure's published definitions of resource types as data: one file for each resource provider
// and api-version, named "<provider>@<api-version>.json". It has no reader: the provider's is internal/arm/schema, the
// simulator has one of its own, so that a bug of one is not the other's, too.
//
// A file has the keys "provider", "apiVersion", "resources" (full type to the shape of its body) and "objects" (name to
// object). A shape is one of
//
//	{"object": NAME}
//	{"type": "string" | "integer" | "boolean" | "any" | "null"}
//	{"type": "array", "items": SHAPE}
//	{"type": "map", "values": SHAPE}
//	{"anyOf": [SHAPE]}
//
// and an object is {"properties": {NAME: SHAPE}}, with "values" where other keys are allowed. Strings may have "enum" (only
// these, unless "open" is true), "pattern", "minLength", "maxLength" and "sensitive"; integers "minimum" and "maximum";
// arrays "minItems" and "maxItems". "flags" are of required, readOnly, writeOnly, createOnly and identifier. The properties
// id, name, type and apiVersion of a resource are those of a template, not of a request.
//
// The files are made from the Bicep types that Microsoft publishes (https://github.com/Azure/bicep-types-az); see
// hack/definitions for how to add a version.
package definitions

import "embed"

// Files are the definitions.
//
//go:embed *.json
var Files embed.FS
