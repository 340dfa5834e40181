package server_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFaultRules adds, lists and removes rules through the control API.
func TestFaultRules(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	type listed struct {
		Faults []struct {
			Number int
			Kind   string
			Done   int
			Spent  bool
		}
	}
	list := func() (numbers []int) {
		var page listed
		a.callControl("GET", "/_sim/faults", nil, &page)
		for _, each := range page.Faults {
			numbers = append(numbers, each.Number)
		}
		return numbers
	}
	for name, test := range map[string]struct {
		reason string
		rules  any
		want   string
	}{
		"a field":        {"the condition would be lost, and the rule would hit every request", obj{"kind": "reset", "metod": "PUT"}, `unknown field "metod"`},
		"a type":         {"the rule would never act", obj{"kind": "reset", "type": "Microsoft.Network/virtualNetwork"}, `type "Microsoft.Network/virtualNetwork" is unknown`},
		"two values":     {"the second would be dropped", []byte("{\"kind\":\"lost\"}\n{\"kind\":\"reset\"}"), "several of them as an array"},
		"now elsewhere":  {"nothing would be done", obj{"kind": "remove", "now": true, "id": net + "/routeTables/none"}, "no resource has the id " + net + "/routeTables/none"},
		"one of several": {"none is added", []any{obj{"kind": "reset", "count": -1}, obj{"kind": "rest"}}, `rule 2: kind "rest" is unknown`},
	} {
		var refusal struct{ Message string }
		if status := a.callControl("POST", "/_sim/faults", test.rules, &refusal); status != 400 || !strings.Contains(refusal.Message, test.want) {
			t.Errorf("%s (%s): %d %q, want %q", name, test.reason, status, refusal.Message, test.want)
		}
	}
	if got := list(); len(got) > 0 {
		t.Errorf("refused rules were added: %v", got)
	}
	rules := []any{
		obj{"kind": "status", "status": 500, "method": "PUT", "type": "Microsoft.Network/routeTables"},
		obj{"kind": "stuck", "type": "Microsoft.Network/virtualNetworks", "count": -1},
		obj{"kind": "stuck", "id": "*/virtualnetworks/two", "count": -1},
	}
	if status := a.callControl("POST", "/_sim/faults", rules, nil); status != 204 {
		t.Fatalf("POST: %d", status)
	}
	if d := cmp.Diff([]int{1, 2, 3}, list()); d != "" {
		t.Error(d)
	}
	network := obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}}
	for _, name := range []string{"one", "two"} {
		if r := a.sendRequest("PUT", net+"/virtualNetworks/"+name, network); r.status >= 300 {
			t.Fatalf("%d %v", r.status, r.body)
		}
	}
	state := func(name string) any {
		a.sim.Settle()
		return a.sendRequest("GET", net+"/virtualNetworks/"+name, nil).valueAt("properties.provisioningState")
	}
	if one, two := state("one"), state("two"); one != "Updating" || two != "Updating" {
		t.Errorf("while both are stuck: %v %v", one, two)
	}
	if status := a.callControl("DELETE", "/_sim/faults/2", nil, nil); status != 204 {
		t.Errorf("DELETE of a rule: %d", status)
	}
	if one, two := state("one"), state("two"); one != "Succeeded" || two != "Updating" {
		t.Errorf("rule 3 still has the second stuck: %v %v", one, two)
	}
	for _, number := range []string{"2", "9", "x", ""} {
		if status := a.callControl("DELETE", "/_sim/faults/"+number, nil, nil); status != 404 {
			t.Errorf("DELETE of rule %q: %d, want 404", number, status)
		}
	}
	if d := cmp.Diff([]int{1, 3}, list()); d != "" {
		t.Error(d)
	}
}
