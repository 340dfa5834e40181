package aks_test

import (
	"encoding/json"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

func TestNodeResourceGroup(t *testing.T) {
	long := strings.Repeat("a", 60)
	tests := map[string]struct {
		reason, name, location, spec, observed, want string
	}{
		"made": {reason: "AKS's own pattern", name: "c1", location: "eastus", want: "MC_c1_c1_eastus"},
		"defaulted": {reason: "the webhook fills in the same", name: "c1", location: "eastus", spec: "MC_c1_c1_eastus",
			want: "MC_c1_c1_eastus"},
		"display name": {reason: "group names have no blanks", name: "c1", location: "East US", spec: "MC_c1_c1_East US",
			want: "MC_c1_c1_eastus"},
		"own": {reason: "the user's", name: "c1", location: "eastus", spec: "mine", want: "mine"},
		"very long": {reason: "AKS cuts it", name: long + "bbbbbbbbbbbb", location: "eastus",
			want: ("MC_c1_" + long + "bbbbbbbbbbbb_eastus")[:80]},
		"letters of another script": {reason: "AKS counts characters", name: strings.Repeat("ü", 72), location: "eastus",
			want: "MC_c1_" + strings.Repeat("ü", 72) + "_e"},
		"name in Azure": {reason: "it cannot be changed", name: "c1", location: "eastus", spec: "mine",
			observed: `{"properties":{"nodeResourceGroup":"theirs"}}`, want: "theirs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readTestCase(t, "default").in
			in.ControlPlane.Name, in.ControlPlane.Spec.Location, in.ControlPlane.Spec.NodeResourceGroupName = test.name, test.location, test.spec
			in.Facts.Cluster = json.RawMessage(test.observed)
			if got := aks.NodeResourceGroupName(in); got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}

// A cluster is not begun with a pool that AKS would refuse: it would refuse all of it.
func TestInvalidPoolBlocksTheCluster(t *testing.T) {
	in := readTestCase(t, "default").in
	for _, pool := range in.Pools {
		if pool.AzurePool.Name == "c1-pool1" {
			pool.AzurePool.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(4), MaxSize: new(3)}
		}
	}
	g := mustPlan(t, in)
	want := "AzureManagedMachinePool c1-pool1: spec.scaling.minSize: Invalid value: 4: is above maxSize 3"
	if got := g.Node(aks.ClusterID(in)).Refused; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if refused := g.Node(aks.SubnetID(in)).Refused; refused != "" {
		t.Errorf("the network is fine, got %q", refused)
	}
	in.Facts.Cluster = json.RawMessage(`{"properties":{"agentPoolProfiles":[{"name":"pool0","vnetSubnetID":"/s"}]}}`)
	if got := mustPlan(t, in).Node(aks.ClusterID(in)).Refused; got != "" {
		t.Errorf("an existing cluster has nothing to do with a pool, got %q", got)
	}
}
