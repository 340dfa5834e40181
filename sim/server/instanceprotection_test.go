package server_test

import (
	"slices"
	"strings"
	"testing"
)

// TestInstanceProtectedFromItsScaleSet protects the newest instance, which a scale set otherwise removes first.
func TestInstanceProtectedFromItsScaleSet(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	set := func(capacity int, user string) obj {
		return scaleSet(capacity, func(set, profile obj) {
			delete(set, "zones")
			set["properties"].(obj)["upgradePolicy"] = obj{"mode": "Automatic"}
			profile["extensionProfile"] = obj{"extensions": []any{obj{"name": user,
				"properties": obj{"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.1"}}}}
		})
	}
	a.mustSucceed("PUT", pool, set(3, "first"))
	const protected = pool + "/virtualMachines/2"
	a.mustSucceed("PUT", protected, obj{"location": "westus3", "properties": obj{"protectionPolicy": obj{"protectFromScaleSetActions": true}}})
	instances := func(shows func(id string) bool) string {
		var out []string
		for _, n := range []string{"0", "1", "2"} {
			if shows(pool + "/virtualMachines/" + n) {
				out = append(out, n)
			}
		}
		return strings.Join(out, " ")
	}
	expect := func(reason, want string, shows func(id string) bool) {
		t.Helper()
		if got := instances(shows); got != want {
			t.Errorf("%s: instances %q, want %q", reason, got, want)
		}
	}
	off := func(id string) bool {
		statuses, _ := a.sendRequest("GET", id+"/instanceView", nil).valueAt("statuses").([]any)
		return slices.ContainsFunc(statuses, func(s any) bool { return valueAt(s, "code") == "PowerState/stopped" })
	}
	a.mustSucceed("POST", pool+"/poweroff", nil)
	expect("stopped by an action on the whole set", "0 1", off)
	a.mustSucceed("POST", pool+"/poweroff", obj{"instanceIds": []any{"2"}})
	expect("stopped by name", "0 1 2", off)
	a.mustSucceed("PUT", pool, set(3, "second"))
	expect("of the latest model", "0 1", func(id string) bool {
		return a.sendRequest("GET", id, nil).valueAt("properties.latestModelApplied") == true
	})
	a.mustSucceed("PUT", pool, set(1, "second"))
	expect("left after scaling in", "2", func(id string) bool { return a.sendRequest("GET", id, nil).status == 200 })
	a.mustSucceed("POST", pool+"/delete", obj{"instanceIds": []any{"2"}})
	expect("left after a deletion by name", "", func(id string) bool { return a.sendRequest("GET", id, nil).status == 200 })
}
