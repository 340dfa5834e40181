package specfield_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

func TestCheckTags(t *testing.T) {
	tests := map[string]struct {
		reason string
		tags   object
		want   []string
	}{
		"slash":              {"Kubernetes' labels are no names of tags", object{"kubernetes.io/a": ""}, []string{"[kubernetes.io/a]"}},
		"less":               {"reserved", object{"a<b": ""}, []string{"[a<b]"}},
		"greater":            {"reserved", object{"a>b": ""}, []string{"[a>b]"}},
		"percent":            {"reserved", object{"a%b": ""}, []string{"[a%b]"}},
		"ampersand":          {"reserved", object{"a&b": ""}, []string{"[a&b]"}},
		"backslash":          {"reserved", object{`a\b`: ""}, []string{`[a\b]`}},
		"question":           {"reserved", object{"a?b": ""}, []string{"[a?b]"}},
		"control":            {"reserved", object{"a\tb": ""}, []string{"[a\tb]"}},
		"hidden":             {"Azure's own tags link to resources", object{"hidden-link:/subscriptions/s": "Resource"}, nil},
		"others":             {"all other characters are free", object{"a:b_c.d-e f+*#@é": `</&%?\>`}, nil},
		"name of 512":        {"the longest name, in characters and not in bytes", object{strings.Repeat("é", 512): "v"}, nil},
		"name of 513":        {"too long", object{strings.Repeat("n", 513): "v"}, []string{"[" + strings.Repeat("n", 513) + "]"}},
		"no name":            {"a tag needs a name", object{"": "v"}, []string{"[]"}},
		"value of 256":       {"the longest value, in characters and not in bytes", object{"n": strings.Repeat("é", 256)}, nil},
		"value of 257":       {"too long", object{"n": strings.Repeat("v", 257)}, []string{"[n]"}},
		"names in two cases": {"names are compared without case", object{"n": "1", "N": "2"}, []string{"[n]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := object{"additionalTags": test.tags, "template": object{"spec": object{"additionalTags": test.tags}},
				"networkSpec": object{"subnets": []any{object{"securityGroup": object{"tags": test.tags}}},
					"vnet": object{"tags": test.tags}}, // The provider does not write those.
				"vmExtensions": []any{object{"settings": test.tags, "protectedSettings": object{"additionalTags": test.tags}}},
				"resources":    []any{object{"spec": object{"additionalTags": test.tags}}}}
			var want, got []string
			for _, field := range []string{"spec.additionalTags", "spec.networkSpec.subnets[0].securityGroup.tags",
				"spec.template.spec.additionalTags"} {
				for _, key := range test.want {
					want = append(want, field+key)
				}
			}
			for _, err := range specfield.DecodeSpec(object{"spec": spec}).CheckTags() {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
