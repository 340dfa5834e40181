package server_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

func TestResourceHealth(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createBase()
	vnet := net + "/virtualNetworks/vnet"
	current := vnet + "/providers/Microsoft.ResourceHealth/availabilityStatuses/current?api-version=2025-05-01"
	check := func(want, reason, summary string) {
		t.Helper()
		got := a.sendRequest("GET", current, nil)
		if got.status != 200 || got.valueAt("properties.availabilityState") != want || got.valueAt("properties.reasonType") != reason ||
			summary != "" && got.valueAt("properties.summary") != summary {
			t.Errorf("%d %v, want %s, %q, %q", got.status, got.body, want, reason, summary)
		}
	}
	check("Available", "", "")
	down := obj{"id": vnet, "state": "Unavailable", "reasonType": "Unplanned", "summary": "The host is down."}
	if s := a.callControl("PUT", "/_sim/health", down, nil); s != 204 {
		t.Fatal(s)
	}
	check("Unavailable", "Unplanned", "The host is down.")
	if s := a.callControl("PUT", "/_sim/health", obj{"id": vnet}, nil); s != 204 {
		t.Fatal(s)
	}
	check("Available", "", "")
	a.callControl("PUT", "/_sim/health", down, nil)
	a.mustSucceed("DELETE", vnet, nil)
	if r := a.sendRequest("GET", current, nil); r.status != 404 || r.errorCode() != "ResourceNotFound" {
		t.Errorf("of a resource that is gone: %d %v", r.status, r.body)
	}
	a.sim.Advance(1)
	a.mustSucceed("PUT", vnet, obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}}}})
	check("Available", "", "")
	for name, in := range map[string]obj{"an unknown state": {"id": vnet, "state": "Broken"},
		"an unknown resource": {"id": vnet + "2", "state": "Degraded"}} {
		if s := a.callControl("PUT", "/_sim/health", in, nil); s != 400 {
			t.Errorf("%s was answered with %d, want 400", name, s)
		}
	}
}
