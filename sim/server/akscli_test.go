package server_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pythonDefaults returns the defaults that the models of the official CLI's SDK send with every pool that is not of
// spot machines. Source:
// https://learn.microsoft.com/python/api/azure-mgmt-containerservice/azure.mgmt.containerservice.models.agentpool
func pythonDefaults(more obj) obj {
	p := obj{"scaleSetPriority": "Regular", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
	for k, v := range more {
		p[k] = v
	}
	return p
}

func TestPoolsTakeTheDefaultsOfTheCLI(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) { p["agentPoolProfiles"] = []any{aksProfile("pool0", pythonDefaults(nil))} })
	for name, c := range map[string]struct {
		reason string
		pool   obj
		status int
		policy any
	}{
		"regular": {"the default is as good as nothing, and is not shown", pythonDefaults(nil), 201, nil},
		"lower":   {"in any casing", pythonDefaults(obj{"scaleSetEvictionPolicy": "delete"}), 201, nil},
		"noprio":  {"a pool without a priority is a regular one", obj{"scaleSetEvictionPolicy": "Delete"}, 201, nil},
		"deallocate": {"nothing evicts regular machines, so that this is a mistake", pythonDefaults(obj{"scaleSetEvictionPolicy": "Deallocate"}),
			400, nil},
		"spot": {"spot machines keep it", pythonDefaults(obj{"scaleSetPriority": "Spot"}), 201, "Delete"},
	} {
		r := a.sendRequest("PUT", pools+name+aksV, agentPool(c.pool))
		a.sim.Settle()
		shown := a.sendRequest("GET", pools+name+aksV, nil).valueAt("properties.scaleSetEvictionPolicy")
		if r.status != c.status || shown != c.policy {
			t.Errorf("%s: %d %v, eviction policy %v, want %d and %v", c.reason, r.status, r.body, shown, c.status, c.policy)
		}
	}
	if r := a.sendRequest("PUT", pools+"regular"+aksV, agentPool(pythonDefaults(obj{"count": 2}))); r.status != 200 {
		t.Errorf("the defaults are no change of an existing pool: %d %v", r.status, r.body)
	}
}

// TestOneUpgradeOfClusterAndPools repeats the requests of `az aks upgrade`: it reads the cluster, raises the version
// of the cluster and of every pool in the answer, and writes that back.
func TestOneUpgradeOfClusterAndPools(t *testing.T) {
	upgrade := func(a *azure, plane, pool string) response {
		whole := a.sendRequest("GET", aks+aksV, nil).body
		properties, _ := whole["properties"].(map[string]any)
		properties["kubernetesVersion"] = plane
		profiles, _ := properties["agentPoolProfiles"].([]any)
		for _, p := range profiles {
			p.(map[string]any)["orchestratorVersion"] = pool
		}
		return a.sendRequest("PUT", aks+aksV, whole)
	}
	a := newAzure(t)
	a.createAKS(nil)
	a.putAndSettle("pool1", agentPool(pythonDefaults(nil)))
	aksRefused(t, "pools must not be above the new version of the cluster", upgrade(a, "1.34.0", "1.34.1"), 400,
		"NodePoolMcVersionIncompatible",
		"bigger than control plane version 1.34.0")
	if r := upgrade(a, "1.34.1", "1.34.1"); r.status != 200 || r.valueAt("properties.provisioningState") != "Upgrading" {
		t.Fatalf("PUT = %d %v", r.status, r.body)
	}
	// The control plane goes first.
	for range 100 {
		if a.sendRequest("GET", aks+aksV, nil).valueAt("properties.currentKubernetesVersion") == "1.34.1" {
			break
		}
		if got := cmp.Diff([]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.2"}, a.listNodes()); got != "" {
			t.Fatalf("nodes before the control plane is upgraded (-want +got):\n%s", got)
		}
		a.sim.Advance(10 * time.Second)
	}
	a.sim.Settle()
	if got := cmp.Diff([]string{"pool0/1.34.1", "pool0/1.34.1", "pool1/1.34.1"}, a.listNodes()); got != "" {
		t.Errorf("nodes in the end (-want +got):\n%s", got)
	}
	end := a.sendRequest("GET", aks+aksV, nil)
	if end.valueAt("properties.provisioningState") != "Succeeded" ||
		end.valueAt("properties.agentPoolProfiles.1.currentOrchestratorVersion") != "1.34.1" {
		t.Errorf("in the end: %v", end.body)
	}
}
