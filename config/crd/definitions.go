// Package crd holds the definitions of this provider's kinds, as the release installs them.
package crd

import "embed"

// Files are the definitions.
//
//go:embed bases/*.yaml
var Files embed.FS
