package server_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// TestFailedPartsAreWrittenAgain creates an internal load balancer whose operation fails. One more PUT, which Azure answers at once, leaves neither
// it nor a part of it Failed.
func TestFailedPartsAreWrittenAgain(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	balancer := obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "f", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/cp")}}},
		"backendAddressPools":      []any{obj{"name": "p"}}}}
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Fail, Code: "InternalServerError"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Failed", "Succeeded"} {
		a.mustSucceed("PUT", net+"/loadBalancers/lb", balancer)
		a.sim.Settle()
		got := a.sendRequest("GET", net+"/loadBalancers/lb", nil)
		for _, part := range []string{"", "properties.frontendIPConfigurations.0.", "properties.backendAddressPools.0."} {
			if state := got.valueAt(part + "properties.provisioningState"); state != want {
				t.Errorf("%sproperties.provisioningState is %v, want %s", part, state, want)
			}
		}
	}
}
