package server_test

import (
	"strings"
	"testing"
)

// TestBackendPortOfTwoRules writes rules that lead to one port of a machine, on different frontend ports; it expects Azure's refusal.
func TestBackendPortOfTwoRules(t *testing.T) {
	const lb = net + "/loadBalancers/lb"
	rule := func(name string, frontend, backend int, more obj) obj {
		p := obj{"protocol": "Tcp", "frontendPort": frontend, "backendPort": backend, "frontendIPConfiguration": newRef(lb + "/frontendIPConfigurations/fe"),
			"backendAddressPool": newRef(lb + "/backendAddressPools/pool"), "probe": newRef(lb + "/probes/probe")}
		for k, v := range more {
			p[k] = v
		}
		return obj{"name": name, "properties": p}
	}
	withRule := func(added obj) obj {
		balancer := apiLB()
		p := balancer["properties"].(obj)
		p["backendAddressPools"] = append(p["backendAddressPools"].([]any), obj{"name": "other"})
		p["loadBalancingRules"] = append(p["loadBalancingRules"].([]any), added)
		return balancer
	}
	ssh := obj{"properties": obj{"protocol": "Tcp", "frontendPort": 2201, "backendPort": 22, "frontendIPConfiguration": newRef(lb + "/frontendIPConfigurations/fe")}}
	nic := newNIC("cp", obj{"loadBalancerBackendAddressPools": newRefs(lb + "/backendAddressPools/pool"),
		"loadBalancerInboundNatRules": newRefs(lb + "/inboundNatRules/vm0")})
	const ofPool, ofInterface = "RulesUseSameBackendPortProtocolAndPool", "RulesUseSameBackendPortProtocolAndIPConfig"
	for name, test := range map[string]struct {
		reason string
		rule   obj
		code   string
	}{
		"another port":           {reason: "nothing collides", rule: rule("more", 8132, 8132, nil)},
		"port of the API server": {reason: "the machine has one port 6443", rule: rule("more", 8132, 6443, nil), code: ofPool},
		"other protocol":         {reason: "UDP is another port", rule: rule("more", 8132, 6443, obj{"protocol": "Udp", "probe": nil})},
		"other pool": {reason: "other machines have it", rule: rule("more", 8132, 6443,
			obj{"backendAddressPool": newRef(lb + "/backendAddressPools/other")})},
		"SSH": {reason: "the inbound NAT rule leads to it", rule: rule("more", 8132, 22, nil), code: ofInterface},
	} {
		t.Run(name, func(t *testing.T) {
			expect := func(r response) {
				t.Helper()
				if r.errorCode() != test.code || test.code != "" && (r.status != 400 || !strings.Contains(r.errorMessage(), "with floating IP disabled")) {
					t.Errorf("%s: %d %v", test.reason, r.status, r.body)
				}
			}
			a := newAzure(t)
			a.createMachine()
			a.mustSucceed("PUT", lb+"/inboundNatRules/vm0", ssh)
			a.mustSucceed("PUT", net+"/networkInterfaces/nic0", nic)
			expect(a.sendRequest("PUT", lb, withRule(test.rule)))

			// The interface comes after the rule.
			b := newAzure(t)
			b.createMachine()
			r := b.sendRequest("PUT", lb, withRule(test.rule))
			b.sim.Settle()
			if test.code == ofPool {
				expect(r)
				return
			}
			b.mustSucceed("PUT", lb+"/inboundNatRules/vm0", ssh)
			expect(b.sendRequest("PUT", net+"/networkInterfaces/nic0", nic))
		})
	}
}
