package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func TestManagedClusterUpgradesByItself(t *testing.T) {
	cases := map[string]struct {
		reason, channel, want string
		image                 bool
	}{
		"patch":      {"the newest patch of the same minor version", "patch", "1.32.10", true},
		"stable":     {"the minor version before the newest", "stable", "1.33.6", true},
		"rapid":      {"the newest, but one minor version at a time", "rapid", "1.33.6", true},
		"node-image": {"only the image", "node-image", "1.32.1", true},
		"none":       {"nothing", "none", "1.32.1", false},
	}
	for name, tc := range cases {
		a := newAzure(t)
		a.createAKS(func(p obj) {
			p["kubernetesVersion"] = "1.32.1"
			p["autoUpgradeProfile"] = obj{"upgradeChannel": tc.channel,
				"nodeOSUpgradeChannel": map[bool]string{true: "NodeImage", false: "None"}[tc.image]}
		})
		before := a.listClusters()[0].Nodes[0].NodeImageVersion
		if status := a.callControl("POST", "/_sim/clusters/autoupgrade", obj{"id": aks}, nil); status != 204 {
			t.Fatalf("%s: autoupgrade = %d", name, status)
		}
		if state := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.provisioningState"); tc.image && state != "Upgrading" {
			t.Errorf("%s: state %v meanwhile", name, state)
		}
		a.sim.Settle()
		r := a.sendRequest("GET", aks+aksV, nil)
		node := a.listClusters()[0].Nodes[0]
		got := []any{r.valueAt("properties.currentKubernetesVersion"), r.valueAt("properties.agentPoolProfiles.0.currentOrchestratorVersion"),
			node.KubernetesVersion, r.valueAt("properties.provisioningState"), r.valueAt("properties.agentPoolProfiles.0.provisioningState"),
			node.NodeImageVersion != before}
		if diff := cmp.Diff([]any{tc.want, tc.want, tc.want, "Succeeded", "Succeeded", tc.image}, got); diff != "" {
			t.Errorf("%s (%s) (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestNodeImageUpgrade(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) { p["autoUpgradeProfile"] = obj{"nodeOSUpgradeChannel": "NodeImage"} })
	if _, r := a.putAndSettle("pool1",
		agentPool(obj{"osSKU": "AzureLinux"})); !strings.HasPrefix(r.valueAt("properties.nodeImageVersion").(string), "AKSAzureLinux") {
		t.Errorf("image = %v", r.valueAt("properties.nodeImageVersion"))
	}
	if between, r := a.putAndSettle("pool1", obj{"properties": obj{"osSKU": "Ubuntu"}}); between != "Updating" ||
		!strings.HasPrefix(r.valueAt("properties.nodeImageVersion").(string), "AKSUbuntu") {
		t.Errorf("after the change of OS SKU: %v, %v", between, r.valueAt("properties.nodeImageVersion"))
	}
	old := a.sendRequest("GET", pools+"pool1"+aksV, nil).valueAt("properties.nodeImageVersion")
	if status := a.callControl("POST", "/_sim/clusters/autoupgrade", obj{"id": aks}, nil); status != 204 {
		t.Fatalf("autoupgrade = %d", status)
	}
	a.sim.Settle()
	_, r := a.putAndSettle("late", agentPool(nil))
	if newer := r.valueAt("properties.nodeImageVersion"); newer == old ||
		a.sendRequest("GET", pools+"pool1"+aksV, nil).valueAt("properties.nodeImageVersion") != newer {
		t.Errorf("image %v before, %v after the release, pool1 has %v", old, newer,
			a.sendRequest("GET", pools+"pool1"+aksV, nil).valueAt("properties.nodeImageVersion"))
	}
	if r := a.sendRequest("POST", pools+"pool1/upgradeNodeImageVersion"+aksV, nil); r.status != 202 ||
		a.sendRequest("GET", pools+"pool1"+aksV, nil).valueAt("properties.provisioningState") != "UpgradingNodeImageVersion" {
		t.Errorf("upgradeNodeImageVersion = %d", r.status)
	}
	a.sim.Settle()
	if s := a.sendRequest("GET", pools+"pool1"+aksV, nil).valueAt("properties.provisioningState"); s != "Succeeded" {
		t.Errorf("state afterwards = %v", s)
	}
}

func TestAgentPoolMachinesAndAbort(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "kubenet"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"count": 3})}
	})
	routes := func() []any {
		list, _ := a.sendRequest("GET", mcRG+"/providers/Microsoft.Network/routeTables", nil).valueAt("value.0.properties.routes").([]any)
		return list
	}
	if list := routes(); len(list) != 3 || valueAt(list[0], "properties.addressPrefix") != "10.244.0.0/24" {
		t.Errorf("routes = %v, want one per node", list)
	}
	doomed := a.listClusters()[0].Nodes[1].Name
	aksRefused(t, "all machines of a system pool", a.sendRequest("POST", pools+"pool0/deleteMachines"+aksV, obj{"machineNames": []any{}}), 400,
		"InvalidParameter", "Between 1")
	a.mustSucceed("POST", pools+"pool0/deleteMachines"+aksV, obj{"machineNames": []any{doomed}})
	nodes := a.listClusters()[0].Nodes
	if len(nodes) != 2 || nodes[0].Name == doomed || nodes[1].Name == doomed ||
		a.sendRequest("GET", pools+"pool0"+aksV, nil).valueAt("properties.count") != 2.0 || len(routes()) != 2 {
		t.Errorf("after the deletion of %s: %d nodes, %d routes", doomed, len(nodes), len(routes()))
	}
	a.sendRequest("PUT", pools+"pool0"+aksV, obj{"properties": obj{"count": 9}})
	if r := a.sendRequest("POST", pools+"pool0/abort"+aksV, nil); r.status != 204 {
		t.Errorf("abort = %d %v", r.status, r.body)
	}
	if s := a.sendRequest("GET", pools+"pool0"+aksV, nil).valueAt("properties.provisioningState"); s != "Canceled" {
		t.Errorf("state after the abort = %v", s)
	}
	if _, r := a.putAndSettle("pool0", obj{"properties": obj{"count": 3}}); r.valueAt("properties.provisioningState") != "Succeeded" ||
		len(a.listNodes()) != 3 {
		t.Errorf("PUT after the abort: %v, %d nodes", r.valueAt("properties.provisioningState"), len(a.listNodes()))
	}
}

func TestManagedClusterGoesOnAfterARestart(t *testing.T) {
	dir, clock := t.TempDir(), store.NewVirtual(epoch)
	with := func(o *server.Options) { o.StateDir, o.Clock = dir, clock }
	a := newAzure(t, with)
	a.createGroup()
	a.sendRequest("PUT", aks+aksV, aksCluster(nil))
	a.sim.Advance(70 * time.Second)
	dir = copyState(t, dir)
	b := newAzure(t, with)
	b.sim.Settle()
	if r := b.sendRequest("GET", aks+aksV, nil); r.valueAt("properties.provisioningState") != "Succeeded" || len(b.listNodes()) != 2 {
		t.Errorf("after the restart: %v, %d nodes", r.valueAt("properties.provisioningState"), len(b.listNodes()))
	}
}

func TestAgentPoolThatFindsNoAddresses(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/small", obj{"properties": obj{"addressPrefix": "10.9.0.0/28"}})
	in := obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/small"}
	a.createAKS(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "serviceCidr": "192.168.0.0/16",
			"dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", in)}
	})
	six := obj{"count": 6, "vnetSubnetID": in["vnetSubnetID"]}
	var ops []string
	for _, name := range []string{"one", "two"} {
		r := a.sendRequest("PUT", pools+name+aksV, agentPool(six))
		if r.status != 201 {
			t.Fatalf("PUT %s = %d %v: there is room for either, not for both", name, r.status, r.body)
		}
		ops = append(ops, r.header.Get("Azure-AsyncOperation"))
	}
	a.sim.Settle()
	var codes []any
	for _, op := range ops {
		codes = append(codes, a.sendRequest("GET", op, nil).valueAt("error.code"))
	}
	if codes[0] != nil && codes[1] != nil || codes[0] == codes[1] {
		t.Fatalf("codes = %v, want one to succeed", codes)
	}
	failed := map[bool]string{true: "one", false: "two"}[codes[0] != nil]
	if s := a.sendRequest("GET", pools+failed+aksV, nil).valueAt("properties.provisioningState"); s != "Failed" {
		t.Errorf("pool %s is %v", failed, s)
	}
	aksRefused(t, "now it can be seen beforehand", a.sendRequest("PUT", pools+"three"+aksV, agentPool(six)), 400, "InsufficientSubnetSize",
		"Pre-allocated IPs 6")
	if _, r := a.putAndSettle(failed,
		agentPool(obj{"count": 1, "vnetSubnetID": in["vnetSubnetID"]})); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("with fewer nodes = %v", r.valueAt("properties.provisioningState"))
	}
}

func TestKubeletIdentityOfOnesOwn(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	at := groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	plane, kubelet := a.mustSucceed("PUT", at+"plane", obj{"location": "westus3"}),
		a.mustSucceed("PUT", at+"kubelet", obj{"location": "westus3"})
	doc := aksCluster(func(p obj) { p["identityProfile"] = obj{"kubeletidentity": obj{"resourceId": at + "kubelet"}} })
	doc["identity"] = obj{"type": "UserAssigned", "userAssignedIdentities": obj{at + "plane": obj{}}}
	aksRefused(t, "without the role", a.sendRequest("PUT", aks+aksV, doc), 400, "CustomKubeletIdentityMissingPermissionError", "assign/action")
	a.mustSucceed("PUT", at+"kubelet/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000b",
		obj{"properties": obj{"principalType": "ServicePrincipal",
			"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/f1a07417-d97a-45cb-824c-7a7467783830",
			"principalId":      plane.valueAt("properties.principalId")}})
	a.mustSucceed("PUT", aks+aksV, doc)
	r := a.sendRequest("GET", aks+aksV, nil)
	if r.valueAt("properties.provisioningState") != "Succeeded" ||
		r.valueAt("properties.identityProfile.kubeletidentity.clientId") != kubelet.valueAt("properties.clientId") {
		t.Errorf("cluster = %v, kubelet identity %v", r.valueAt("properties.provisioningState"), r.valueAt("properties.identityProfile"))
	}
	if own := a.sendRequest("GET", mcRG+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/c1-agentpool", nil); own.status != 404 {
		t.Errorf("AKS made an identity of its own, too: %d", own.status)
	}
	set := a.sendRequest("GET", mcRG+"/providers/Microsoft.Compute/virtualMachineScaleSets", nil)
	if ids, _ := set.valueAt("value.0.identity.userAssignedIdentities").(obj); len(ids) != 1 || ids[at+"kubelet"] == nil {
		t.Errorf("identities of the nodes = %v", ids)
	}
}
