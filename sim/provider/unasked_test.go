package provider

import (
	"regexp"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

var version = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// Each row of the table tells its source, and how it gets its value.
func TestUnaskedRows(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range ListUnasked() {
		key := u.Type + " " + u.Path
		ways := 0
		for _, has := range []bool{u.Value != nil, u.From != "", u.Make == "guid" || u.Make == "pairedRegion" || u.Make == "scaleSet", u.Hide} {
			if has {
				ways++
			}
		}
		if u.Source == "" || ways != 1 || u.Since != "" && !version.MatchString(u.Since) || seen[key] {
			t.Errorf("%s: want a source, one way to its value, an api-version, and one row for each path: %+v", key, u)
		}
		seen[key] = true
	}
	for _, a := range ListUnusualAnswers() {
		if a.Source == "" || a.Type == "" || a.Status == 0 && !a.NoOperation {
			t.Errorf("want a source and an effect: %+v", a)
		}
	}
}

func TestShowUnasked(t *testing.T) {
	const services = "Microsoft.Network/privateLinkServices"
	asked := func() body.Object {
		return body.Object{"properties": body.Object{"ipConfigurations": []any{
			body.Object{"properties": body.Object{"privateIPAllocationMethod": "Static"}}, body.Object{"properties": body.Object{}}}}}
	}
	for name, c := range map[string]struct {
		reason, version string
		want            any
	}{
		"old": {"its first api-version is newer", "2022-07-01", nil},
		"new": {"shown since then", "2024-05-01", "Default"},
	} {
		shown := asked()
		showUnasked(services, c.version, false, shown, func(string) string { return "" })
		if got := body.Get(shown, "properties.accessMode"); got != c.want {
			t.Errorf("%s: %s: got %v, want %v", name, c.reason, got, c.want)
		}
		list := body.Objects(shown, "properties.ipConfigurations")
		first, second := body.String(list[0], "properties.privateIPAllocationMethod"), body.String(list[1], "properties.privateIPAllocationMethod")
		if first != "Static" || second != "Dynamic" {
			t.Errorf("%s: items have %s and %s, want the value that was asked for and the default", name, first, second)
		}
	}
	empty := body.Object{}
	showUnasked("Microsoft.Compute/virtualMachines", "2025-04-01", false, empty, nil)
	if len(empty) != 0 {
		t.Errorf("a machine without Windows got %v", empty)
	}
}
