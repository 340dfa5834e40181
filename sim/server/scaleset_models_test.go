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
	a.base()
	for n := 1; n <= 10; n++ {
		a.must("PUT", pool, scaleSet(n, withData(n)))
	}
	boots := a.boots()
	refused := a.do("PUT", pool, scaleSet(11, withData(11)))
	if refused.status != 409 || refused.code() != "OperationNotAllowed" || !strings.Contains(refused.message(), "Virtual Machine Scale Set 'pool' has reached its limit of 10 models that may be referenced by one or more VMs") {
		t.Errorf("the eleventh model: %d %v", refused.status, refused.body)
	}
	if r := a.do("PATCH", pool, obj{"tags": obj{"team": "a"}}); r.code() != "OperationNotAllowed" {
		t.Errorf("other tags are another model: %d %v", r.status, r.body)
	}
	if n := a.do("GET", pool, nil).at("sku.capacity"); n != 10.0 {
		t.Errorf("capacity %v after a refusal, want 10", n)
	}
	a.must("PUT", pool, scaleSet(11, withData(10))) // of a model that there is

	a.must("POST", pool+"/manualupgrade", obj{"instanceIds": []any{"0", "1"}})
	for id, boot := range a.boots() {
		if before, there := boots[id]; there && before != boot {
			t.Errorf("%s booted anew for other custom data", id)
		}
	}
	a.must("PUT", pool, scaleSet(12, withData(12)))
	if n := a.do("GET", pool, nil).at("sku.capacity"); n != 12.0 {
		t.Errorf("capacity %v once instances were upgraded, want 12", n)
	}
}

// TestFlexibleScaleSetHasNoModelLimit makes a flexible scale set larger: its VMs are resources of their own.
func TestFlexibleScaleSetHasNoModelLimit(t *testing.T) {
	a := newAzure(t)
	a.base()
	for n := 1; n <= 12; n++ {
		a.must("PUT", pool, scaleSet(n, func(set, profile obj) {
			withData(n)(set, profile)
			set["properties"].(obj)["orchestrationMode"], set["properties"].(obj)["platformFaultDomainCount"] = "Flexible", 1
			delete(set["properties"].(obj), "upgradePolicy")
			profile["networkProfile"].(obj)["networkApiVersion"] = "2020-11-01"
		}))
	}
}

// boots are the boots of all guests by their VM.
func (a *azure) boots() map[string]string {
	var page struct{ Guests []server.Guest }
	a.control("GET", "/_sim/guests", nil, &page)
	out := map[string]string{}
	for _, guest := range page.Guests {
		out[guest.VMID] = guest.BootID
	}
	return out
}
