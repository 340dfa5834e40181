package server_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// Errors have the keys that Azure's have: Azure Monitor sends a code and a message, and the refusal of a run without members names its operation.
func TestErrorsAsRecorded(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const setting = net + "/virtualNetworks/vnet/providers/Microsoft.Insights/diagnosticSettings/none?api-version=2021-05-01-preview"
	if got := a.sendRequest("GET", setting, nil); got.status != 404 || !slices.Equal(slices.Sorted(maps.Keys(got.body)), []string{"code", "message"}) {
		t.Errorf("a missing setting: %d %v", got.status, got.body)
	}
	const fleet, version = groupA + "/providers/Microsoft.ContainerService/fleets/f", "?api-version=2025-03-01"
	a.mustSucceed("PUT", fleet+version, obj{"location": "westus3", "properties": obj{"hubProfile": obj{"dnsPrefix": "hub"}}})
	run := a.sendRequest("PUT", fleet+"/updateRuns/r"+version, obj{"properties": obj{"managedClusterUpdate": obj{"upgrade": obj{"type": "NodeImageOnly"}}}})
	if run.status != 409 || !strings.Contains(run.errorMessage(), `. Operation ID: "`) {
		t.Errorf("a run without members: %d %q", run.status, run.errorMessage())
	}
	host, _ := a.sendRequest("GET", fleet+version, nil).valueAt("properties.hubProfile.portalFqdn").(string)
	if unique, _, _ := strings.Cut(strings.TrimPrefix(host, "hub-"), "."); len(unique) != 8 {
		t.Errorf("the host %q of the hub has no part of eight characters, as recorded", host)
	}
}
