package server_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	aks   = groupA + "/providers/Microsoft.ContainerService/managedClusters/c1"
	mcRG  = "/subscriptions/" + sub + "/resourceGroups/MC_rg_c1_westus3"
	aksV  = "?api-version=2025-10-01"
	pools = aks + "/agentPools/"
)

// aksCluster returns a valid managed cluster with a system pool "pool0"; change edits its properties.
func aksCluster(change func(p obj)) obj {
	p := obj{"dnsPrefix": "c1", "kubernetesVersion": "1.33.2", "agentPoolProfiles": []any{aksProfile("pool0", nil)}}
	if change != nil {
		change(p)
	}
	return obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}, "properties": p}
}

func aksProfile(name string, more obj) obj {
	e := obj{"name": name, "mode": "System", "count": 2, "vmSize": "Standard_D2s_v5"}
	for k, v := range more {
		e[k] = v
	}
	return e
}

// aksCode returns the error code of AKS, whose answers have no "error" around them.
func (r response) aksCode() string {
	code, _ := r.body["code"].(string)
	if code == "" {
		return r.errorCode()
	}
	return code
}

func TestManagedClusterLifecycle(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	r := a.sendRequest("PUT", aks+aksV, aksCluster(nil))
	if r.status != 201 || r.valueAt("properties.provisioningState") != "Creating" || r.header.Get("Azure-AsyncOperation") == "" ||
		r.header.Get("Retry-After") != "" {
		t.Fatalf("PUT = %d %v %v", r.status, r.header, r.body)
	}
	took := a.sim.Settle()
	if took < 2*time.Minute || took > 7*time.Minute {
		t.Errorf("creation took %s", took)
	}
	r = a.sendRequest("GET", aks+aksV, nil)
	want := map[string]any{
		"properties.provisioningState": "Succeeded", "properties.powerState.code": "Running", "properties.currentKubernetesVersion": "1.33.2",
		"properties.nodeResourceGroup":           "MC_rg_c1_westus3",
		"properties.networkProfile.outboundType": "loadBalancer", "properties.agentPoolProfiles.0.name": "pool0",
		"properties.agentPoolProfiles.0.provisioningState": "Succeeded",
		"properties.agentPoolProfiles.0.osDiskSizeGB":      128.0, "properties.servicePrincipalProfile.clientId": "msi",
	}
	got := map[string]any{}
	for k := range want {
		got[k] = r.valueAt(k)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GET (-want +got):\n%s", diff)
	}
	// Recordings show an operation for every PUT of a cluster, also for one that changes nothing. After the first of them its pools show more.
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	r = a.sendRequest("GET", aks+aksV, nil)
	nodes := a.listNodes()
	if again := a.mustSucceed("PUT", aks+aksV, aksCluster(nil)); again.status != 200 {
		t.Errorf("equal PUT = %d %v", again.status, again.body)
	}
	same := a.sendRequest("GET", aks+aksV, nil)
	for _, r := range []response{r, same} {
		delete(r.body, "eTag")
	}
	if diff := cmp.Diff(r.body, same.body); diff != "" {
		t.Errorf("an equal PUT changed the cluster (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(nodes, a.listNodes()); diff != "" {
		t.Errorf("an equal PUT changed the nodes (-before +after):\n%s", diff)
	}
	sets := a.sendRequest("GET", mcRG+"/providers/Microsoft.Compute/virtualMachineScaleSets", nil)
	if sets.valueAt("value.0.tags.poolName") != "pool0" || sets.valueAt("value.0.sku.capacity") != 2.0 {
		t.Errorf("scale sets = %v", sets.body)
	}
	a.mustSucceed("DELETE", aks+aksV, nil)
	if r := a.sendRequest("GET", mcRG, nil); r.status != 404 {
		t.Errorf("node resource group after deletion = %d", r.status)
	}
	if r := a.sendRequest("GET", aks+aksV, nil); r.status != 404 {
		t.Errorf("cluster after deletion = %d", r.status)
	}
}
