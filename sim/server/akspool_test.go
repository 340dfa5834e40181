package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/containerservice"
)

// listClusters returns the managed clusters that the control API shows.
func (a *azure) listClusters() []containerservice.Cluster {
	a.t.Helper()
	var page struct{ Clusters []containerservice.Cluster }
	if status := a.callControl("GET", "/_sim/clusters", nil, &page); status != 200 {
		a.t.Fatalf("GET /_sim/clusters = %d", status)
	}
	return page.Clusters
}

// listNodes lists the nodes of the only cluster: "pool/version", those that do not run with "off".
func (a *azure) listNodes() []string {
	a.t.Helper()
	out := []string{}
	for _, c := range a.listClusters() {
		for _, n := range c.Nodes {
			s := n.Pool + "/" + n.KubernetesVersion
			if !n.Running {
				s += "/off"
			}
			out = append(out, s)
		}
	}
	return out
}

func (a *azure) createAKS(change func(p obj)) {
	a.t.Helper()
	a.createGroup()
	a.mustSucceed("PUT", aks+aksV, aksCluster(change))
	if r := a.sendRequest("GET", aks+aksV, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		a.t.Fatalf("cluster is %v: %v", r.valueAt("properties.provisioningState"), a.sim.Operations()[len(a.sim.Operations())-1].Error)
	}
}

func agentPool(more obj) obj {
	p := obj{"mode": "User", "count": 1, "vmSize": "Standard_D2s_v5"}
	for k, v := range more {
		p[k] = v
	}
	return obj{"properties": p}
}

// putAndSettle PUTs a pool and returns its state during the operation and its answer at the end.
func (a *azure) putAndSettle(name string, body obj) (between any, end response) {
	a.t.Helper()
	r := a.sendRequest("PUT", pools+name+aksV, body)
	if r.status > 299 {
		a.t.Fatalf("PUT pool %s = %d %v", name, r.status, r.body)
	}
	a.sim.Settle()
	return r.valueAt("properties.provisioningState"), a.sendRequest("GET", pools+name+aksV, nil)
}

func TestAgentPoolScalesAndUpgrades(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	steps := []struct {
		reason  string
		cluster obj
		pool    obj
		state   string
		nodes   []string
	}{
		{"a new pool brings its nodes", nil, agentPool(nil), "Creating", []string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.2"}},
		{"more nodes are added", nil, agentPool(obj{"count": 3}), "Scaling",
			[]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.2", "pool1/1.33.2", "pool1/1.33.2"}},
		{"a user pool may have none", nil, agentPool(obj{"count": 0}), "Scaling", []string{"pool0/1.33.2", "pool0/1.33.2"}},
		{"and come back", nil, agentPool(obj{"count": 2}), "Scaling", []string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.2", "pool1/1.33.2"}},
		{"the control plane alone is upgraded", obj{"kubernetesVersion": "1.33.4"}, nil, "Upgrading",
			[]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.2", "pool1/1.33.2"}},
		{"then a pool", nil, agentPool(obj{"count": 2, "orchestratorVersion": "1.33.4"}), "Upgrading",
			[]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.4", "pool1/1.33.4"}},
		{"parked nodes stay with Deallocate", nil, agentPool(obj{"count": 1, "scaleDownMode": "Deallocate"}), "Scaling",
			[]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.4", "pool1/1.33.4/off"}},
		{"and are the first to run again", nil, agentPool(obj{"count": 2}), "Scaling",
			[]string{"pool0/1.33.2", "pool0/1.33.2", "pool1/1.33.4", "pool1/1.33.4"}},
	}
	for _, s := range steps {
		if s.cluster != nil {
			r := a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": s.cluster})
			if r.status != 200 || r.valueAt("properties.provisioningState") != s.state {
				t.Fatalf("%s: PUT cluster = %d %v", s.reason, r.status, r.body)
			}
			a.sim.Settle()
		} else if between, end := a.putAndSettle("pool1", s.pool); between != s.state ||
			end.valueAt("properties.provisioningState") != "Succeeded" {
			t.Errorf("%s: states %v, %v, want %s, Succeeded", s.reason, between, end.valueAt("properties.provisioningState"), s.state)
		}
		if diff := cmp.Diff(s.nodes, a.listNodes()); diff != "" {
			t.Errorf("%s: nodes (-want +got):\n%s", s.reason, diff)
		}
	}
	a.mustSucceed("DELETE", pools+"pool1"+aksV, nil)
	if diff := cmp.Diff([]string{"pool0/1.33.2", "pool0/1.33.2"}, a.listNodes()); diff != "" {
		t.Errorf("nodes after the pool is gone (-want +got):\n%s", diff)
	}
}

func TestAgentPoolUpgradeReplacesNodesOneByOne(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) { p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"count": 3})} })
	boots := map[string]string{}
	for _, n := range a.listClusters()[0].Nodes {
		boots[n.Name] = n.BootID
	}
	a.mustSucceed("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"kubernetesVersion": "1.34.1"}})
	if r := a.sendRequest("PUT", pools+"pool0"+aksV, obj{"properties": obj{"orchestratorVersion": "1.34.1"}}); r.status != 200 {
		t.Fatalf("PUT = %d %v", r.status, r.body)
	}
	most, versions := 0, map[int]bool{}
	for range 200 {
		a.sim.Advance(10 * time.Second)
		nodes := a.listClusters()[0].Nodes
		done := 0
		for _, n := range nodes {
			if n.KubernetesVersion == "1.34.1" {
				done++
			}
		}
		most, versions[done] = max(most, len(nodes)), true
	}
	if most != 4 || len(versions) < 4 {
		t.Errorf("at most %d nodes at once and %d steps, want 4 (one more) and every number from 0 to 3", most, len(versions))
	}
	nodes := a.listClusters()[0].Nodes
	if len(nodes) != 3 {
		t.Fatalf("%d nodes after the upgrade, want 3", len(nodes))
	}
	for _, n := range nodes {
		if boots[n.Name] == "" || boots[n.Name] == n.BootID || n.KubernetesVersion != "1.34.1" {
			t.Errorf("node %s: boot %s, before %s, version %s; want the same name, booted anew with 1.34.1", n.Name, n.BootID, boots[n.Name],
				n.KubernetesVersion)
		}
	}
	if v := a.sendRequest("GET", pools+"pool0"+aksV, nil).valueAt("properties.currentOrchestratorVersion"); v != "1.34.1" {
		t.Errorf("currentOrchestratorVersion = %v", v)
	}
}

func TestAgentPoolAutoscaling(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	_, r := a.putAndSettle("auto", agentPool(obj{"count": 2, "enableAutoScaling": true, "minCount": 1, "maxCount": 4}))
	if r.valueAt("properties.count") != 2.0 {
		t.Fatalf("count = %v", r.valueAt("properties.count"))
	}
	if p := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.autoScalerProfile.scan-interval"); p != "10s" {
		t.Errorf("autoScalerProfile.scan-interval = %v, want AKS's default", p)
	}
	count := func() any { return a.sendRequest("GET", pools+"auto"+aksV, nil).valueAt("properties.count") }
	if status := a.callControl("POST", "/_sim/clusters/demand", obj{"id": aks, "pool": "pool0", "nodes": 5}, nil); status != 204 {
		t.Fatalf("demand = %d", status)
	}
	a.putAndSettle("pool0", obj{"properties": obj{"enableAutoScaling": true, "minCount": 1, "maxCount": 3}})
	if n := a.sendRequest("GET", pools+"pool0"+aksV, nil).valueAt("properties.count"); n != 3.0 {
		t.Errorf("an autoscaler that is turned on goes to %v, want the demand it finds, up to its maximum", n)
	}
	for _, s := range []struct {
		demand int
		after  time.Duration
		want   float64
	}{{9, 4 * time.Minute, 4}, {0, 5 * time.Minute, 4}, {0, 30 * time.Minute, 1}, {3, 4 * time.Minute, 3}} {
		if status := a.callControl("POST", "/_sim/clusters/demand", obj{"id": aks, "pool": "auto", "nodes": s.demand}, nil); status != 204 {
			t.Fatalf("demand = %d", status)
		}
		a.sim.Advance(s.after)
		if got := count(); got != s.want {
			t.Errorf("%s after a demand of %d: count %v, want %v", s.after, s.demand, got, s.want)
		}
	}
	if _, r := a.putAndSettle("auto", agentPool(obj{"count": 1, "nodeLabels": obj{"a": "b"}})); r.valueAt("properties.count") != 3.0 ||
		r.valueAt("properties.nodeLabels.a") != "b" {
		t.Errorf("a PUT took the count from the autoscaler: %v", r.body)
	}
	if _, r := a.putAndSettle("auto", obj{"properties": obj{"enableAutoScaling": false, "count": 1}}); r.valueAt("properties.count") != 1.0 ||
		r.valueAt("properties.minCount") != nil {
		t.Errorf("without the autoscaler: %v", r.body)
	}
	for path, want := range map[string]int{"nothere": 404, "auto": 400} {
		n := 1
		if want == 400 {
			n = -1
		}
		if status := a.callControl("POST", "/_sim/clusters/demand", obj{"id": aks, "pool": path, "nodes": n}, nil); status != want {
			t.Errorf("demand of %d for pool %s = %d, want %d", n, path, status, want)
		}
	}
}

func TestAgentPoolKinds(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	cases := map[string]struct {
		reason string
		pool   obj
		want   obj
		node   func(n containerservice.Node) string
	}{
		"spot": {"spot nodes get a label and a taint, also when the request clears both",
			obj{"scaleSetPriority": "Spot", "nodeLabels": obj{}, "nodeTaints": []any{}},
			obj{"properties.nodeTaints.0": "kubernetes.azure.com/scalesetpriority=spot:NoSchedule", "properties.scaleSetEvictionPolicy": "Delete",
				"properties.spotMaxPrice": -1.0},
			func(n containerservice.Node) string {
				return fmt.Sprint(n.Priority, n.Labels["kubernetes.azure.com/scalesetpriority"], len(n.Taints))
			}},
		"win": {"Windows pools get Windows's image", obj{"osType": "Windows"}, obj{"properties.osSKU": "Windows2022"},
			func(n containerservice.Node) string { return n.OSType + " " + n.Name }},
		"zones": {"nodes are spread over zones", obj{"availabilityZones": []any{"2"}}, obj{"properties.availabilityZones.0": "2"},
			func(n containerservice.Node) string { return n.Zone }},
		"labels": {"labels and taints reach the nodes; empty collections are shown as nothing",
			obj{"nodeLabels": obj{"k": "v"}, "nodeTaints": []any{"a=b:NoSchedule"}, "tags": obj{}},
			obj{"properties.tags": nil, "properties.osDiskSizeGB": 128.0},
			func(n containerservice.Node) string { return n.Labels["k"] + n.Taints[0] }},
	}
	nodes := map[string]string{"spot": "Spotspot1", "win": "Windows akswin000000", "zones": "2", "labels": "va=b:NoSchedule"}
	for name, tc := range cases {
		_, r := a.putAndSettle(name, agentPool(tc.pool))
		got := obj{}
		for k := range tc.want {
			got[k] = r.valueAt(k)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: pool (-want +got):\n%s", tc.reason, diff)
		}
		for _, n := range a.listClusters()[0].Nodes {
			if n.Pool == name && tc.node(n) != nodes[name] {
				t.Errorf("%s: node shows %q, want %q", tc.reason, tc.node(n), nodes[name])
			}
		}
	}
	if u := a.sendRequest("GET", aks+aksV, nil).valueAt("properties.windowsProfile.adminUsername"); u != "azureuser" {
		t.Errorf("windowsProfile.adminUsername = %v once there is a Windows pool", u)
	}
	if diff := cmp.Diff(6, len(a.listClusters()[0].Nodes)); diff != "" {
		t.Errorf("number of nodes (-want +got):\n%s", diff)
	}
	same := obj{"enableEncryptionAtHost": false, "enableUltraSSD": false, "scaleSetPriority": "Regular", "proximityPlacementGroupID": "",
		"osDiskSizeGB": 0, "availabilityZones": []any{}, "nodeLabels": obj{"k": "v", "empty": ""}}
	if _, r := a.putAndSettle("labels", agentPool(same)); r.valueAt("properties.provisioningState") != "Succeeded" ||
		r.valueAt("properties.nodeLabels.empty") != "" {
		t.Errorf("values that mean the default are no change: %v", r.body)
	}
	_, r := a.putAndSettle("labels", obj{"properties": obj{"nodeLabels": obj{}, "nodeTaints": []any{}}})
	if r.valueAt("properties.nodeLabels") != nil || r.valueAt("properties.nodeTaints") != nil {
		t.Errorf("cleared labels and taints come back as %v, %v", r.valueAt("properties.nodeLabels"), r.valueAt("properties.nodeTaints"))
	}
}

// Nodes are replaced by ones with another image when FIPS is turned on.
func TestFIPSReplacesNodes(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	boots := func() map[string]string {
		out := map[string]string{}
		for _, n := range a.listClusters()[0].Nodes {
			if n.Pool == "fips" {
				out[n.BootID] = n.NodeImageVersion
			}
		}
		return out
	}
	a.putAndSettle("fips", agentPool(obj{"count": 1}))
	before := boots()
	_, r := a.putAndSettle("fips", agentPool(obj{"count": 1, "enableFIPS": true}))
	if image, _ := r.valueAt("properties.nodeImageVersion").(string); !strings.Contains(image, "fips") {
		t.Errorf("the pool has image %q, want one with FIPS", image)
	}
	after := boots()
	for boot, image := range after {
		if _, old := before[boot]; old || !strings.Contains(image, "fips") {
			t.Errorf("the node has image %q and boot %s, before were %v: want a new one with FIPS", image, boot, before)
		}
	}
	if len(before) != 1 || len(after) != 1 {
		t.Errorf("%d nodes before and %d after, want one", len(before), len(after))
	}
}
