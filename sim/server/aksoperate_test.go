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
		a.aks(func(p obj) {
			p["kubernetesVersion"] = "1.32.1"
			p["autoUpgradeProfile"] = obj{"upgradeChannel": tc.channel, "nodeOSUpgradeChannel": map[bool]string{true: "NodeImage", false: "None"}[tc.image]}
		})
		before := a.clusters()[0].Nodes[0].NodeImageVersion
		if status := a.control("POST", "/_sim/clusters/autoupgrade", obj{"id": aks}, nil); status != 204 {
			t.Fatalf("%s: autoupgrade = %d", name, status)
		}
		if state := a.do("GET", aks+aksV, nil).at("properties.provisioningState"); tc.image && state != "Upgrading" {
			t.Errorf("%s: state %v meanwhile", name, state)
		}
		a.sim.Settle()
		r := a.do("GET", aks+aksV, nil)
		node := a.clusters()[0].Nodes[0]
		got := []any{r.at("properties.currentKubernetesVersion"), r.at("properties.agentPoolProfiles.0.currentOrchestratorVersion"), node.KubernetesVersion, r.at("properties.provisioningState"), r.at("properties.agentPoolProfiles.0.provisioningState"), node.NodeImageVersion != before}
		if diff := cmp.Diff([]any{tc.want, tc.want, tc.want, "Succeeded", "Succeeded", tc.image}, got); diff != "" {
			t.Errorf("%s (%s) (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestNodeImageUpgrade(t *testing.T) {
	a := newAzure(t)
	a.aks(func(p obj) { p["autoUpgradeProfile"] = obj{"nodeOSUpgradeChannel": "NodeImage"} })
	if _, r := a.settled("pool1", agentPool(obj{"osSKU": "AzureLinux"})); !strings.HasPrefix(r.at("properties.nodeImageVersion").(string), "AKSAzureLinux") {
		t.Errorf("image = %v", r.at("properties.nodeImageVersion"))
	}
	if between, r := a.settled("pool1", obj{"properties": obj{"osSKU": "Ubuntu"}}); between != "Updating" || !strings.HasPrefix(r.at("properties.nodeImageVersion").(string), "AKSUbuntu") {
		t.Errorf("after the change of OS SKU: %v, %v", between, r.at("properties.nodeImageVersion"))
	}
	old := a.do("GET", pools+"pool1"+aksV, nil).at("properties.nodeImageVersion")
	if status := a.control("POST", "/_sim/clusters/autoupgrade", obj{"id": aks}, nil); status != 204 {
		t.Fatalf("autoupgrade = %d", status)
	}
	a.sim.Settle()
	_, r := a.settled("late", agentPool(nil))
	if newer := r.at("properties.nodeImageVersion"); newer == old || a.do("GET", pools+"pool1"+aksV, nil).at("properties.nodeImageVersion") != newer {
		t.Errorf("image %v before, %v after the release, pool1 has %v", old, newer, a.do("GET", pools+"pool1"+aksV, nil).at("properties.nodeImageVersion"))
	}
	if r := a.do("POST", pools+"pool1/upgradeNodeImageVersion"+aksV, nil); r.status != 202 || a.do("GET", pools+"pool1"+aksV, nil).at("properties.provisioningState") != "UpgradingNodeImageVersion" {
		t.Errorf("upgradeNodeImageVersion = %d", r.status)
	}
	a.sim.Settle()
	if s := a.do("GET", pools+"pool1"+aksV, nil).at("properties.provisioningState"); s != "Succeeded" {
		t.Errorf("state afterwards = %v", s)
	}
}

func TestAgentPoolMachinesAndAbort(t *testing.T) {
	a := newAzure(t)
	a.aks(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "kubenet"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"count": 3})}
	})
	routes := func() []any {
		list, _ := a.do("GET", mcRG+"/providers/Microsoft.Network/routeTables", nil).at("value.0.properties.routes").([]any)
		return list
	}
	if list := routes(); len(list) != 3 || at(list[0], "properties.addressPrefix") != "10.244.0.0/24" {
		t.Errorf("routes = %v, want one per node", list)
	}
	doomed := a.clusters()[0].Nodes[1].Name
	aksRefused(t, "all machines of a system pool", a.do("POST", pools+"pool0/deleteMachines"+aksV, obj{"machineNames": []any{}}), 400, "InvalidParameter", "Between 1")
	a.must("POST", pools+"pool0/deleteMachines"+aksV, obj{"machineNames": []any{doomed}})
	nodes := a.clusters()[0].Nodes
	if len(nodes) != 2 || nodes[0].Name == doomed || nodes[1].Name == doomed || a.do("GET", pools+"pool0"+aksV, nil).at("properties.count") != 2.0 || len(routes()) != 2 {
		t.Errorf("after the deletion of %s: %d nodes, %d routes", doomed, len(nodes), len(routes()))
	}
	a.do("PUT", pools+"pool0"+aksV, obj{"properties": obj{"count": 9}})
	if r := a.do("POST", pools+"pool0/abort"+aksV, nil); r.status != 204 {
		t.Errorf("abort = %d %v", r.status, r.body)
	}
	if s := a.do("GET", pools+"pool0"+aksV, nil).at("properties.provisioningState"); s != "Canceled" {
		t.Errorf("state after the abort = %v", s)
	}
	if _, r := a.settled("pool0", obj{"properties": obj{"count": 3}}); r.at("properties.provisioningState") != "Succeeded" || len(a.nodes()) != 3 {
		t.Errorf("PUT after the abort: %v, %d nodes", r.at("properties.provisioningState"), len(a.nodes()))
	}
}

func TestManagedClusterGoesOnAfterARestart(t *testing.T) {
	dir, clock := t.TempDir(), store.NewVirtual(epoch)
	with := func(o *server.Options) { o.StateDir, o.Clock = dir, clock }
	a := newAzure(t, with)
	a.group()
	a.do("PUT", aks+aksV, aksCluster(nil))
	a.sim.Advance(70 * time.Second)
	// The first simulator stays open: the second one reads the files as they are at this moment.
	b := newAzure(t, with)
	b.sim.Settle()
	if r := b.do("GET", aks+aksV, nil); r.at("properties.provisioningState") != "Succeeded" || len(b.nodes()) != 2 {
		t.Errorf("after the restart: %v, %d nodes", r.at("properties.provisioningState"), len(b.nodes()))
	}
}

func TestAgentPoolThatFindsNoAddresses(t *testing.T) {
	a := newAzure(t)
	a.base()
	a.must("PUT", net+"/virtualNetworks/vnet/subnets/small", obj{"properties": obj{"addressPrefix": "10.9.0.0/28"}})
	in := obj{"vnetSubnetID": net + "/virtualNetworks/vnet/subnets/small"}
	a.aks(func(p obj) {
		p["networkProfile"] = obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
		p["agentPoolProfiles"] = []any{aksProfile("pool0", in)}
	})
	six := obj{"count": 6, "vnetSubnetID": in["vnetSubnetID"]}
	var ops []string
	for _, name := range []string{"one", "two"} {
		r := a.do("PUT", pools+name+aksV, agentPool(six))
		if r.status != 201 {
			t.Fatalf("PUT %s = %d %v: there is room for either, not for both", name, r.status, r.body)
		}
		ops = append(ops, r.header.Get("Azure-AsyncOperation"))
	}
	a.sim.Settle()
	var codes []any
	for _, op := range ops {
		codes = append(codes, a.do("GET", op, nil).at("error.code"))
	}
	if codes[0] != nil && codes[1] != nil || codes[0] == codes[1] {
		t.Fatalf("codes = %v, want one to succeed", codes)
	}
	failed := map[bool]string{true: "one", false: "two"}[codes[0] != nil]
	if s := a.do("GET", pools+failed+aksV, nil).at("properties.provisioningState"); s != "Failed" {
		t.Errorf("pool %s is %v", failed, s)
	}
	aksRefused(t, "now it can be seen beforehand", a.do("PUT", pools+"three"+aksV, agentPool(six)), 400, "InsufficientSubnetSize", "Pre-allocated IPs 6")
	if _, r := a.settled(failed, agentPool(obj{"count": 1, "vnetSubnetID": in["vnetSubnetID"]})); r.at("properties.provisioningState") != "Succeeded" {
		t.Errorf("with fewer nodes = %v", r.at("properties.provisioningState"))
	}
}

func TestKubeletIdentityOfOnesOwn(t *testing.T) {
	a := newAzure(t)
	a.group()
	at := groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	plane, kubelet := a.must("PUT", at+"plane", obj{"location": "westus3"}), a.must("PUT", at+"kubelet", obj{"location": "westus3"})
	doc := aksCluster(func(p obj) { p["identityProfile"] = obj{"kubeletidentity": obj{"resourceId": at + "kubelet"}} })
	doc["identity"] = obj{"type": "UserAssigned", "userAssignedIdentities": obj{at + "plane": obj{}}}
	aksRefused(t, "without the role", a.do("PUT", aks+aksV, doc), 400, "CustomKubeletIdentityMissingPermissionError", "assign/action")
	a.must("PUT", at+"kubelet/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000b", obj{"properties": obj{"principalType": "ServicePrincipal",
		"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/f1a07417-d97a-45cb-824c-7a7467783830", "principalId": plane.at("properties.principalId")}})
	a.must("PUT", aks+aksV, doc)
	r := a.do("GET", aks+aksV, nil)
	if r.at("properties.provisioningState") != "Succeeded" || r.at("properties.identityProfile.kubeletidentity.clientId") != kubelet.at("properties.clientId") {
		t.Errorf("cluster = %v, kubelet identity %v", r.at("properties.provisioningState"), r.at("properties.identityProfile"))
	}
	if own := a.do("GET", mcRG+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/c1-agentpool", nil); own.status != 404 {
		t.Errorf("AKS made an identity of its own, too: %d", own.status)
	}
	set := a.do("GET", mcRG+"/providers/Microsoft.Compute/virtualMachineScaleSets", nil)
	if ids, _ := set.at("value.0.identity.userAssignedIdentities").(obj); len(ids) != 1 || ids[at+"kubelet"] == nil {
		t.Errorf("identities of the nodes = %v", ids)
	}
}
