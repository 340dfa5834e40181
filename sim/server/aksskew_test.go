package server_test

import "testing"

// TestUpgradeOfTheControlPlaneKeepsItsPoolsNear upgrades the control plane alone until its pools would be three minor versions behind.
func TestUpgradeOfTheControlPlaneKeepsItsPoolsNear(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) { p["kubernetesVersion"] = "1.31.1" })
	upgrade := func(version string, pools any) response {
		p := obj{"kubernetesVersion": version}
		if pools != nil {
			p["agentPoolProfiles"] = pools
		}
		return a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": p})
	}
	for _, version := range []string{"1.32.0", "1.33.0"} {
		if r := upgrade(version, nil); r.status != 200 {
			t.Fatalf("the pools may be behind %s: %d %v", version, r.status, r.body)
		}
		a.sim.Settle()
	}
	profiles := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.agentPoolProfiles").([]any)
	aksRefused(t, "pools that the PUT leaves out", upgrade("1.34.0", nil), 400, "NodePoolMcVersionIncompatible", "more than 2 versions less")
	aksRefused(t, "pools that the PUT repeats", upgrade("1.34.0", profiles), 400, "NodePoolMcVersionIncompatible", "more than 2 versions less")
	if r := a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "tags": obj{"a": "b"}, "properties": obj{}}); r.status != 200 {
		t.Errorf("a PUT without an upgrade: %d %v", r.status, r.body)
	}
	a.sim.Settle()
	a.putAndSettle("pool0", obj{"properties": obj{"orchestratorVersion": "1.32.0"}})
	if r := upgrade("1.34.0", nil); r.status != 200 {
		t.Errorf("after the upgrade of the pool: %d %v", r.status, r.body)
	}
}
