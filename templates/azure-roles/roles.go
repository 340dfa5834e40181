// Package azureroles has the role definitions of the release, which `make azure-roles` writes. It is data.
package azureroles

import "embed"

// Files has one file for each role, named after its feature set.
//
//go:embed *.json
var Files embed.FS
