package compare

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// The paths of the identities of a resource. An owned kind or identity is named in brackets, as in "identity.type[SystemAssigned]".
const (
	identityType  = "identity.type"
	identityUsers = "identity.userAssignedIdentities"
	userAssigned  = "UserAssigned"
)

var usersPath = jsonpath.Parse(identityUsers)

// identityKinds returns the kinds in the type of an identity, as in "SystemAssigned, UserAssigned". "None" counts as no kind.
func identityKinds(value any) (kinds []string) {
	text, _ := value.(string)
	for kind := range strings.SplitSeq(text, ",") {
		if kind = strings.TrimSpace(kind); kind != "" && !strings.EqualFold(kind, "None") {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func hasKind(kinds []string, kind string) bool {
	return slices.ContainsFunc(kinds, func(other string) bool { return strings.EqualFold(other, kind) })
}

// sameIdentityType reports whether a resource has the desired kinds of identities, and none that the plan sent earlier and no longer
// has.
func sameIdentityType(want Desired, wanted, have any) bool {
	kinds, others := identityKinds(wanted), identityKinds(have)
	for _, kind := range kinds {
		if !hasKind(others, kind) {
			return false
		}
	}
	return !slices.ContainsFunc(others, func(kind string) bool {
		// The kind of user-assigned identities stays with those of others. Those of the plan are compared one by one.
		return !hasKind(kinds, kind) && !strings.EqualFold(kind, userAssigned) && ownsElement(want.OwnedPaths, identityType, kind)
	})
}

// reportDroppedKinds reports kinds of identities that the plan sent earlier, if it has no identity any more.
func (d *differ) reportDroppedKinds(observed any) {
	if !d.desired.Type.SharedIdentity || jsonpath.Get(d.desired.Body, identityType) != nil {
		return
	}
	if have := jsonpath.GetFold(observed, identityType); !sameIdentityType(d.desired, nil, have) {
		d.addDifference(identityType, nil, have)
	}
}

// missingIdentities reports user-assigned identities of the plan that the resource lacks. Their values are not compared.
func (d *differ) missingIdentities(path string, want map[string]any, have any) {
	users, _ := have.(map[string]any)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if _, ok := jsonpath.LookUp(users, id); !ok {
			d.addDifference(jsonpath.JoinMember(path, id), want[id], nil)
		}
	}
}

// mergeIdentity adds identities that others assigned to those of the plan. Azure keeps the user-assigned identities that a request
// names, and removes one that is null:
// https://learn.microsoft.com/en-us/entra/identity/managed-identities-azure-resources/qs-configure-rest-vmss
func mergeIdentity(want Desired, body, have map[string]any) {
	planned, _ := body["identity"].(map[string]any)
	observed, _ := have["identity"].(map[string]any)
	users, _ := observed["userAssignedIdentities"].(map[string]any)
	theirs, dropped := map[string]any{}, false
	wanted, _ := planned["userAssignedIdentities"].(map[string]any)
	for id := range users {
		if _, ok := jsonpath.LookUp(wanted, id); ok {
			continue
		}
		theirs[id] = map[string]any{}
		if ownsElement(want.OwnedPaths, identityUsers, id) {
			theirs[id], dropped = nil, true
		}
	}
	kinds := identityKinds(planned["type"])
	for _, kind := range identityKinds(observed["type"]) {
		switch {
		case hasKind(kinds, kind):
		case strings.EqualFold(kind, userAssigned):
			if slices.ContainsFunc(slices.Sorted(maps.Keys(theirs)), func(id string) bool { return theirs[id] != nil }) {
				kinds = append(kinds, kind)
			}
		case ownsElement(want.OwnedPaths, identityType, kind):
			dropped = true
		default:
			kinds = append(kinds, kind)
		}
	}
	if !dropped && (planned == nil || len(users) == 0 && len(kinds) == len(identityKinds(planned["type"]))) {
		return
	}
	merged := map[string]any{}
	for key, value := range planned {
		merged[key] = value
	}
	slices.Sort(kinds)
	merged["type"] = "None"
	if len(kinds) > 0 {
		merged["type"] = strings.Join(kinds, ", ")
	}
	if hasKind(kinds, userAssigned) {
		all := map[string]any{}
		for id, value := range wanted {
			all[id] = value
		}
		for id, value := range theirs {
			all[id] = value
		}
		merged["userAssignedIdentities"] = all
	}
	body["identity"] = merged
}
