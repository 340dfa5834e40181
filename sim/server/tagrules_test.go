package server_test

import (
	"strings"
	"testing"
)

// TestTagsThatAzureRefuses sends tags to a resource, a group and the API of tags.
func TestTagsThatAzureRefuses(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	table := net + "/routeTables/rt"
	a.mustSucceed("PUT", table, obj{"location": "westus3"})
	for name, tc := range map[string]struct {
		reason string
		tags   any
		code   string
	}{
		"slash":              {"Kubernetes' labels are no names of tags", obj{"kubernetes.io/cluster/c1": "owned"}, "InvalidTagNameCharacters"},
		"less":               {"reserved", obj{"a<b": ""}, "InvalidTagNameCharacters"},
		"greater":            {"reserved", obj{"a>b": ""}, "InvalidTagNameCharacters"},
		"percent":            {"reserved", obj{"a%b": ""}, "InvalidTagNameCharacters"},
		"ampersand":          {"reserved", obj{"a&b": ""}, "InvalidTagNameCharacters"},
		"backslash":          {"reserved", obj{`a\b`: ""}, "InvalidTagNameCharacters"},
		"question":           {"reserved", obj{"a?b": ""}, "InvalidTagNameCharacters"},
		"control":            {"reserved", obj{"a\tb": ""}, "InvalidTagNameCharacters"},
		"hidden":             {"Azure's own tags link to resources", obj{"hidden-link:/subscriptions/s/resourceGroups/g": "Resource"}, ""},
		"others":             {"all other characters are free", obj{"a:b_c.d-e f+*#@é": "</&%?\\>"}, ""},
		"name of 512":        {"the longest name, in characters and not in bytes", obj{strings.Repeat("é", 512): "v"}, ""},
		"name of 513":        {"too long", obj{strings.Repeat("n", 513): "v"}, "InvalidTagName"},
		"no name":            {"a tag needs a name", obj{"": "v"}, "InvalidTagName"},
		"value of 256":       {"the longest value, in characters and not in bytes", obj{"n": strings.Repeat("é", 256)}, ""},
		"value of 257":       {"too long", obj{"n": strings.Repeat("v", 257)}, "InvalidTagValueLength"},
		"number":             {"values are strings", obj{"n": 1}, "InvalidRequestContent"},
		"object":             {"values are strings", obj{"n": obj{}}, "InvalidRequestContent"},
		"list":               {"tags are an object", []any{"n"}, "InvalidRequestContent"},
		"names in two cases": {"names are compared without case", obj{"n": "1", "N": "2"}, "DuplicateTagName"},
	} {
		for what, r := range map[string]response{
			"resource":          a.sendRequest("PUT", table, obj{"location": "westus3", "tags": tc.tags}),
			"PATCH of resource": a.sendRequest("PATCH", table, obj{"tags": tc.tags}),
			"group":             a.sendRequest("PUT", groupA, obj{"location": "westus3", "tags": tc.tags}),
			"PATCH of group":    a.sendRequest("PATCH", groupA, obj{"tags": tc.tags}),
			"tags API":          a.sendRequest("PUT", table+"/providers/Microsoft.Resources/tags/default", obj{"properties": obj{"tags": tc.tags}}),
			"merge": a.sendRequest("PATCH", groupA+"/providers/Microsoft.Resources/tags/default",
				obj{"operation": "Merge", "properties": obj{"tags": tc.tags}}),
		} {
			if r.errorCode() != tc.code || tc.code == "" && r.status > 299 || tc.code != "" && r.status != 400 {
				t.Errorf("%s: %s of the %s: %d %s %s, want %q", name, tc.reason, what, r.status, r.errorCode(), r.errorMessage(), tc.code)
			}
		}
		a.sim.Settle()
		a.mustSucceed("PATCH", groupA, obj{"tags": obj{}})
	}
}

// TestTagsThatDNSRefuses: Azure/bicep-registry-modules#1541.
func TestTagsThatDNSRefuses(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	count := func(n int) obj {
		tags := obj{}
		for i := range n {
			tags[string(rune('a'+i))] = ""
		}
		return tags
	}
	zone := net + "/privateDnsZones/example.com"
	for name, tc := range map[string]struct {
		tags obj
		code string
	}{
		"15": {count(15), ""}, "16": {count(16), "BadRequest"}, "space": {obj{"Cost Center": ""}, "BadRequest"},
		"parentheses": {obj{"cost(center)": ""}, "BadRequest"}, "digit": {obj{"1st": ""}, "BadRequest"}, "digits later": {obj{"a_b.c-1": "a (b)"}, ""},
	} {
		r := a.sendRequest("PUT", zone, obj{"location": "global", "tags": tc.tags})
		if r.errorCode() != tc.code || tc.code == "" && r.status > 299 || tc.code != "" && r.status != 400 {
			t.Errorf("%s: %d %s %s, want %q", name, r.status, r.errorCode(), r.errorMessage(), tc.code)
		}
		a.sim.Settle()
	}
	if r := a.sendRequest("PUT", net+"/routeTables/rt", obj{"location": "westus3", "tags": count(16)}); r.status > 299 {
		t.Errorf("other types take more: %d %s", r.status, r.errorCode())
	}
}
