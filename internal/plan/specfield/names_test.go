package specfield_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

func TestCheckNames(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		value  string
		// common and network are the errors in a name with 1 to 80 characters, and in one of a virtual network.
		common, network string
	}{
		"letters":               {reason: "the usual name", value: "c1-node-nsg"},
		"all characters":        {reason: "Azure takes these", value: "0aZ_.-_"},
		"one character":         {reason: "networks have two", value: "a", network: "at least 2"},
		"none":                  {reason: "defaults or the schema see to it", value: ""},
		"64 characters":         {reason: "the longest name of a network", value: strings.Repeat("n", 64)},
		"65 characters":         {reason: "too long for a network", value: strings.Repeat("n", 65), network: "has 65 characters, and Azure accepts at most 64"},
		"80 characters":         {reason: "the longest name", value: strings.Repeat("n", 80), network: "at most 64"},
		"81 characters":         {reason: "too long", value: strings.Repeat("n", 81), common: "has 81 characters, and Azure accepts at most 80", network: "at most 64"},
		"blank":                 {reason: "InvalidResourceName", value: "allow ssh", common: "is not a name", network: "is not a name"},
		"slash":                 {reason: "a name is one segment", value: "a/b", common: "is not a name", network: "is not a name"},
		"other letters":         {reason: "the page has a to z only", value: "größe", common: "is not a name", network: "is not a name"},
		"underscore at the end": {reason: "Azure takes it there only", value: "ssh_"},
		"underscore first":      {reason: "a letter or digit is first", value: "_ssh", common: "is not a name", network: "is not a name"},
		"hyphen first":          {reason: "a letter or digit is first", value: "-ssh", common: "is not a name", network: "is not a name"},
		"hyphen at the end":     {reason: "kubernetes-sigs/cloud-provider-azure#1443", value: "ssh-", common: "is not a name", network: "is not a name"},
		"period at the end":     {reason: "kubernetes/kubernetes#95663", value: "ssh.", common: "is not a name", network: "is not a name"},
	} {
		t.Run(name, func(t *testing.T) {
			named := object{"name": test.value}
			spec := object{
				"name": test.value, "identityRef": named, "additionalTags": object{"subnets": test.value}, // These have other rules.
				"resources":   []any{object{"spec": object{"subnets": []any{named}}}},
				"networkSpec": object{"vnet": named, "subnets": []any{object{"securityGroup": object{"securityRules": []any{named}}}}},
				"template":    object{"spec": object{"networkSpec": object{"vnet": object{"peerings": []any{object{"remoteVnetName": test.value}}}}}},
			}
			want := map[string]string{"spec.networkSpec.vnet.name": test.network, "spec.template.spec.networkSpec.vnet.peerings[0].remoteVnetName": test.network,
				"spec.networkSpec.subnets[0].securityGroup.securityRules[0].name": test.common}
			for _, err := range specfield.DecodeSpec(object{"spec": spec}).CheckNames() {
				if text := want[err.Field]; text == "" || !strings.Contains(err.Detail, text) {
					t.Errorf("%s: got %v, want %q", test.reason, err, text)
				}
				delete(want, err.Field)
			}
			for path, text := range want {
				if text != "" {
					t.Errorf("%s: no error at %s, want %q", test.reason, path, text)
				}
			}
		})
	}
}

// TestNamesWithSchema checks names whose schema has a part of the rule, which is not repeated.
func TestNamesWithSchema(t *testing.T) {
	for name, test := range map[string]struct {
		reason, owner, value, want string
	}{
		"characters and length of a subnet": {reason: "the schema has both", owner: "subnets", value: strings.Repeat("n", 80) + " n"},
		"end of a subnet":                   {reason: "the schema accepts it", owner: "subnets", value: "nodes.", want: "end it with"},
		"start of a load balancer":          {reason: "the schema accepts it", owner: "apiServerLB", value: "_lb", want: "begin it with"},
		"length of a route table":           {reason: "the schema has it", owner: "routeTable", value: strings.Repeat("n", 81)},
		"characters of a route table":       {reason: "the schema accepts them", owner: "routeTable", value: "the table", want: "use letters, digits"},
		"characters of an endpoint":         {reason: "the schema has them", owner: "privateEndpoints", value: "the endpoint"},
		"length of an endpoint":             {reason: "the schema accepts it", owner: "privateEndpoints", value: strings.Repeat("n", 81), want: "at most 80"},
	} {
		t.Run(name, func(t *testing.T) {
			errs := specfield.DecodeSpec(object{"spec": object{test.owner: object{"name": test.value}}}).CheckNames()
			if (len(errs) == 1) != (test.want != "") || test.want != "" && !strings.Contains(errs[0].Detail, test.want) {
				t.Errorf("%s: got %v, want %q", test.reason, errs, test.want)
			}
		})
	}
	long := object{"securityRules": []any{object{"name": strings.Repeat("é", 80)}}}
	if errs := specfield.DecodeSpec(object{"spec": long}).CheckNames(); len(errs) != 1 || !strings.Contains(errs[0].Detail, "is not a name") {
		t.Errorf("characters are counted and not bytes: %v", errs)
	}
}
