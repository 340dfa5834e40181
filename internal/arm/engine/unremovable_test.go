package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

func TestPresentPaths(t *testing.T) {
	row := types.Type{WriteOnlyPaths: []string{"properties.windowsProfile.adminPassword", "properties.secret"}}
	const observed = `{"properties":{"dnsPrefix":"c1","nothing":null,"addonProfiles":{"omsAgent":{"enabled":true}},"pools":[{"name":"p"}],"none":[]}}`
	for name, test := range map[string]struct {
		reason  string
		pointer string
		want    bool
	}{
		"there":         {"the resource has it", "/properties/dnsPrefix", true},
		"never there":   {"Azure refused the request with it", "/properties/fqdnSubdomain", false},
		"below nothing": {"Azure refused the request with it", "/properties/podIdentityProfile/enabled", false},
		"null":          {"null is no value", "/properties/nothing", false},
		"other case":    {"Azure writes some keys in another case", "/properties/addonProfiles/omsagent/enabled", true},
		"element":       {"the element of the list is unknown", "/properties/pools/p/name", true},
		"no elements":   {"an empty list has no value", "/properties/none/p", false},
		"hidden":        {"Azure does not return it", "/properties/windowsProfile/adminPassword", true},
		"below hidden":  {"Azure does not return it", "/properties/secret/value", true},
	} {
		t.Run(name, func(t *testing.T) {
			var want []string
			if test.want {
				want = []string{test.pointer}
			}
			got := presentPaths([]string{test.pointer}, []byte(observed), row)
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
