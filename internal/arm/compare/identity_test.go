package compare_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestSharedIdentities compares the identities of a scale set in the plan with those that others assigned. After the merged body is
// sent there is no difference.
func TestSharedIdentities(t *testing.T) {
	const ours, theirs = `"/subscriptions/s/ours"`, `"/subscriptions/s/theirs"`
	ownedUser, ownedSystem := "identity.userAssignedIdentities[/subscriptions/s/ours]", "identity.type[SystemAssigned]"
	for name, test := range map[string]struct {
		reason     string
		want, have string
		owned      []string
		differs    bool
		body       string
	}{
		"none and theirs": {"the plan has no identities", `{}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`, nil, false, `{}`},
		"none": {"the resource has no user-assigned identity",
			`{"identity":{"type":"SystemAssigned"}}`, `{}`, nil, true, `{"identity":{"type":"SystemAssigned"}}`},
		"same": {"others assigned none", `{"identity":{"type":"SystemAssigned"}}`,
			`{"identity":{"type":"SystemAssigned","principalId":"p"}}`, nil, false, `{"identity":{"type":"SystemAssigned"}}`},
		"system and theirs": {"Azure Policy adds user-assigned identities", `{"identity":{"type":"SystemAssigned"}}`,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`, nil, false,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`},
		"user and theirs": {"Azure keeps the identities that a request names",
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + theirs + `:{"clientId":"c"},` + ours +
				`:{"clientId":"c"}}}}`, nil, false,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{},` + theirs + `:{}}}}`},
		"user and their system": {"a policy turns the system-assigned one on",
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`, nil, false,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`},
		"missing": {"the plan's identity was removed",
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`, nil, true,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{},` + theirs + `:{}}}}`},
		"ours goes": {"an earlier spec had the identity", `{"identity":{"type":"SystemAssigned"}}`,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + ours + `:{"clientId":"c"},` + theirs +
				`:{"clientId":"c"}}}}`, []string{ownedUser, "identity.type[UserAssigned]"}, true,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + ours + `:null,` + theirs + `:{}}}}`},
		"only that of an earlier plan": {"an earlier spec had the identity", `{}`,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{"clientId":"c"}}}}`,
			[]string{ownedUser, "identity.type[UserAssigned]"}, true, `{"identity":{"type":"None"}}`},
		"only the system-assigned one of an earlier plan": {"an earlier spec had the identity", `{}`,
			`{"identity":{"type":"SystemAssigned","principalId":"p"}}`, []string{ownedSystem}, true, `{"identity":{"type":"None"}}`},
		"system-assigned of an earlier plan, and theirs": {"the spec had the system-assigned one", `{}`,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`, []string{ownedSystem}, true,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`},
		"ours is gone, theirs stays": {"the kind stays with theirs", `{"identity":{"type":"SystemAssigned"}}`,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`,
			[]string{ownedUser, "identity.type[UserAssigned]"}, false,
			`{"identity":{"type":"SystemAssigned, UserAssigned","userAssignedIdentities":{` + theirs + `:{}}}}`},
		"system-assigned of an earlier plan": {"the spec had the system-assigned one",
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`, `{"identity":{"type":"SystemAssigned"}}`,
			[]string{ownedSystem}, true,
			`{"identity":{"type":"UserAssigned","userAssignedIdentities":{` + ours + `:{}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := compare.Desired{Type: typeOf(t, types.ScaleSet), Body: decodeJSON(t, test.want), OwnedPaths: test.owned}
			have := decodeJSON(t, test.have)
			if got := compare.PathsOf(compare.Diff(want, have)); (len(got) > 0) != test.differs {
				t.Errorf("%s: differences %v", test.reason, got)
			}
			raw, err := json.Marshal(compare.MergeBody(want, have))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decodeJSON(t, test.body), decodeJSON(t, string(raw))); diff != "" {
				t.Errorf("%s: body (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
