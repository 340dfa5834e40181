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
	// The first simulator is not closed: a second one reads what is on disk at this moment.
	b := newAzure(t, with)
	b.sim.Settle()
	if r := b.do("GET", aks+aksV, nil); r.at("properties.provisioningState") != "Succeeded" || len(b.nodes()) != 2 {
		t.Errorf("after the restart: %v, %d nodes", r.at("properties.provisioningState"), len(b.nodes()))
	}
}
