package server_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// withData gives the instances that come next other custom data.
func withData(n int) func(set, profile obj) {
	return func(_, profile obj) {
		profile["osProfile"].(obj)["customData"] = base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "#cloud-config %d", n))
	}
}

// TestScaleSetModelLimit makes a scale set larger with other custom data each time. Azure refuses the eleventh model.
func TestScaleSetModelLimit(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	for n := 1; n <= 10; n++ {
		a.mustSucceed("PUT", pool, scaleSet(n, withData(n)))
	}
	boots := a.bootsByVM()
	refused := a.sendRequest("PUT", pool, scaleSet(11, withData(11)))
	if refused.status != 409 || refused.errorCode() != "OperationNotAllowed" ||
		!strings.Contains(refused.errorMessage(),
			"Virtual Machine Scale Set 'pool' has reached its limit of 10 models that may be referenced by one or more VMs") {
		t.Errorf("the eleventh model: %d %v", refused.status, refused.body)
	}
	if r := a.sendRequest("PATCH", pool, obj{"tags": obj{"team": "a"}}); r.errorCode() != "OperationNotAllowed" {
		t.Errorf("other tags are another model: %d %v", r.status, r.body)
	}
	if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 10.0 {
		t.Errorf("capacity %v after a refusal, want 10", n)
	}
	a.mustSucceed("PUT", pool, scaleSet(11, withData(10))) // of a model that there is

	a.mustSucceed("POST", pool+"/manualupgrade", obj{"instanceIds": []any{"0", "1"}})
	for id, boot := range a.bootsByVM() {
		if before, there := boots[id]; there && before != boot {
			t.Errorf("%s booted anew for other custom data", id)
		}
	}
	a.mustSucceed("PUT", pool, scaleSet(12, withData(12)))
	if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 12.0 {
		t.Errorf("capacity %v once instances were upgraded, want 12", n)
	}
}

// TestFlexibleScaleSetHasNoModelLimit makes a flexible scale set larger: its VMs are resources of their own.
func TestFlexibleScaleSetHasNoModelLimit(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	for n := 1; n <= 12; n++ {
		a.mustSucceed("PUT", pool, scaleSet(n, func(set, profile obj) {
			withData(n)(set, profile)
			set["properties"].(obj)["orchestrationMode"], set["properties"].(obj)["platformFaultDomainCount"] = "Flexible", 1
			delete(set["properties"].(obj), "upgradePolicy")
			profile["networkProfile"].(obj)["networkApiVersion"] = "2020-11-01"
		}))
	}
}

// bootsByVM returns the boots of all guests by their VM.
func (a *azure) bootsByVM() map[string]string {
	var page struct{ Guests []server.Guest }
	a.callControl("GET", "/_sim/guests", nil, &page)
	out := map[string]string{}
	for _, guest := range page.Guests {
		out[guest.VMID] = guest.BootID
	}
	return out
}
