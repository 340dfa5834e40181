package server_test

import "testing"

// TestBackendPoolOfARule: rules need their pool, and go with the load balancer.
func TestBackendPoolOfARule(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/pip", publicIP("api"))
	lb := net + "/loadBalancers/lb"
	balanced, outbound := apiLB(), apiLB()
	properties := outbound["properties"].(obj)
	delete(properties, "loadBalancingRules")
	properties["outboundRules"] = []any{obj{"name": "out", "properties": obj{"protocol": "All",
		"frontendIPConfigurations": newRefs(lb + "/frontendIPConfigurations/fe"), "backendAddressPool": newRef(lb + "/backendAddressPools/pool")}}}
	for reason, content := range map[string]obj{"a load balancing rule": balanced, "an outbound rule": outbound} {
		a.mustSucceed("PUT", lb, content)
		expectCode(t, reason, a.sendRequest("DELETE", lb+"/backendAddressPools/pool", nil), "InvalidResourceReference/")
		a.mustSucceed("DELETE", lb, nil)
	}
	a.mustSucceed("PUT", lb, balanced)
	delete(balanced["properties"].(obj), "loadBalancingRules")
	a.mustSucceed("PUT", lb, balanced)
	a.mustSucceed("DELETE", lb+"/backendAddressPools/pool", nil)
	if r := a.sendRequest("GET", lb+"/backendAddressPools/pool", nil); r.status != 404 {
		t.Errorf("the pool of no rule still exists: %d", r.status)
	}
}
