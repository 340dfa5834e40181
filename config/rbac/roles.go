// Package rbac holds the roles of the release that are bound to the manager's ServiceAccount. The manager compares them with its rights
// when it starts, so that no rule is written twice.
package rbac

import "embed"

// Files are the roles, and bindings beside some of them.
//
//go:embed role.yaml secrets_role.yaml leader_election.yaml former_identities.yaml
var Files embed.FS
