package authorization

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// ListPermissions lists the permissions that a principal has at a scope: those of the role of each assignment there or above.
// Source: https://learn.microsoft.com/rest/api/authorization/permissions/list-for-resource-group
func ListPermissions(tx *store.Tx, objectID, scope string) []any {
	out := []any{}
	tx.Each(Assignments, func(r *store.Resource) {
		id, err := store.ParseID(r.ID)
		if err != nil || !strings.EqualFold(body.String(r.Body, "properties.principalId"), objectID) || !coversScope(id.Scope, scope) {
			return
		}
		out = append(out, permissionsOf(tx, body.String(r.Body, "properties.roleDefinitionId"))...)
	})
	return out
}

func permissionsOf(tx *store.Tx, definition string) []any {
	guid := strings.ToLower(lastOf(definition))
	if role, ok := BuiltIn[guid]; ok {
		return []any{newPermission(role.Actions, role.NotActions)}
	}
	out := []any{}
	tx.Each(Definitions, func(r *store.Resource) {
		if !strings.EqualFold(r.Name(), guid) {
			return
		}
		for _, permission := range body.Objects(r.Body, "properties.permissions") {
			out = append(out, newPermission(body.Strings(permission, "actions"), body.Strings(permission, "notActions")))
		}
	})
	return out
}

// AllPermissions are those of Owner.
func AllPermissions() []any { return []any{newPermission([]string{"*"}, nil)} }

func newPermission(actions, notActions []string) body.Object {
	return body.Object{"actions": toAnyList(actions), "notActions": toAnyList(notActions), "dataActions": []any{}, "notDataActions": []any{}}
}
