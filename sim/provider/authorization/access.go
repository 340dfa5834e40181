package authorization

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Need is an action that a request takes, and the scope it takes it at.
type Need struct {
	Action, Scope string
}

// IsAllowed reports whether a principal has an assignment at the scope or above it whose role has the action. Source:
// https://learn.microsoft.com/azure/role-based-access-control/overview#how-azure-rbac-determines-if-a-user-has-access-to-a-resource
func IsAllowed(tx *store.Tx, objectID string, need Need) bool {
	allowed := false
	tx.Each(Assignments, func(r *store.Resource) {
		if allowed || !strings.EqualFold(body.String(r.Body, "properties.principalId"), objectID) {
			return
		}
		id, err := store.ParseID(r.ID)
		allowed = err == nil && coversScope(id.Scope, need.Scope) &&
			grantsAction(tx, body.String(r.Body, "properties.roleDefinitionId"), need.Action)
	})
	return allowed
}

// coversScope reports whether an assignment at one scope is inherited by the other.
func coversScope(assigned, scope string) bool {
	return strings.HasPrefix(store.Key(scope)+"/", strings.TrimRight(store.Key(assigned), "/")+"/")
}

func grantsAction(tx *store.Tx, definition, action string) bool {
	guid := strings.ToLower(lastOf(definition))
	if role, ok := BuiltIn[guid]; ok {
		return matchAny(role.Actions, action) && !matchAny(role.NotActions, action)
	}
	granted := false
	tx.Each(Definitions, func(r *store.Resource) {
		if granted || !strings.EqualFold(r.Name(), guid) {
			return
		}
		for _, permission := range body.Objects(r.Body, "properties.permissions") {
			granted = granted || matchAny(body.Strings(permission, "actions"), action) && !matchAny(body.Strings(permission, "notActions"), action)
		}
	})
	return granted
}

func matchAny(patterns []string, action string) bool {
	for _, pattern := range patterns {
		if matchAction(strings.ToLower(pattern), strings.ToLower(action)) {
			return true
		}
	}
	return false
}

// matchAction compares an action with a pattern, whose * stands for any characters, slashes included.
func matchAction(pattern, action string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == action
	}
	after, ok := strings.CutPrefix(action, head)
	if !ok {
		return false
	}
	for i := 0; i <= len(after); i++ {
		if matchAction(rest, after[i:]) {
			return true
		}
	}
	return false
}
