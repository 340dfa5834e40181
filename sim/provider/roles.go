package provider

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// HoldsRole reports whether one of the principals has one of the roles at a scope or above it. Principals and roles are GUIDs. With
// Env.AssumeRoles each principal has each role.
func (c *Call) HoldsRole(principals []string, scope string, roles []string) bool {
	if c.Env.AssumeRoles {
		return true
	}
	found := false
	c.Each("Microsoft.Authorization/roleAssignments", func(r *store.Resource) {
		id, err := store.ParseID(r.ID)
		principal := body.String(r.Body, "properties.principalId")
		isOne := func(p string) bool { return p != "" && strings.EqualFold(p, principal) }
		if err != nil || !slices.ContainsFunc(principals, isOne) || !strings.HasPrefix(store.Key(scope)+"/", store.Key(id.Scope)+"/") {
			return
		}
		role := strings.ToLower(body.String(r.Body, "properties.roleDefinitionId"))
		found = found || slices.ContainsFunc(roles, func(want string) bool { return strings.HasSuffix(role, want) })
	})
	return found
}
