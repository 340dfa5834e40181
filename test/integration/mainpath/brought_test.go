package mainpath_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	groupVersion   = "2021-04-01"
	networkVersion = "2024-05-01"
)

// TestBroughtGroup uses a resource group that was there before. It is not tagged, not changed and not deleted, and what is
// in it and not the cluster's stays.
func TestBroughtGroup(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.Put("resourceGroups/mine", groupVersion, map[string]any{"location": "eastus", "tags": map[string]any{"team": "a"}})
	stage.Azure.Put("resourceGroups/mine/providers/Microsoft.Network/routeTables/other", networkVersion, map[string]any{"location": "eastus", "properties": map[string]any{}})
	before := stage.Azure.Resources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()

	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.ResourceGroup = "mine"
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	want := slices.DeleteFunc(slices.Clone(clusterWrites), func(write string) bool { return write == "PUT " })
	if diff := cmp.Diff(want, inGroup("mine", stage.Azure.Writes(0))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	stage.CreateMachine(stage.AzureMachine("c1", "c1-cp"), harness.ControlPlane, "")
	stage.WaitMachineProvisioned("c1-cp")

	stage.DeleteCluster("c1", "c1-cp")
	if diff := cmp.Diff(before, stage.Azure.Resources()); diff != "" {
		t.Errorf("after the deletion it is as before the cluster (-want +got):\n%s", diff)
	}
	if _, group := stage.Azure.Get("resourceGroups/mine", groupVersion); !cmp.Equal(group["tags"], map[string]any{"team": "a"}) {
		t.Errorf("the group's tags were changed: %v", group["tags"])
	}
}

// TestBroughtNetwork uses a network in another group that was there before, with its subnets. None of them is written or
// deleted.
func TestBroughtNetwork(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutNetwork("hub", "hub-vnet", "10.0.0.0/8", map[string]string{"cp": "10.0.0.0/16", "nodes": "10.1.0.0/16"})
	before := stage.Azure.Resources()
	_, network := stage.Azure.Get("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-vnet", networkVersion)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()

	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "hub", Name: "hub-vnet"}
	azureCluster.Spec.NetworkSpec.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode}},
	}
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "c1-md"), harness.Worker, "")
	stage.WaitMachineProvisioned("c1-md")
	for _, write := range stage.Azure.Writes(0) {
		if strings.Contains(write, "resourceGroups/hub") {
			t.Errorf("the network is the user's, but the provider sent %s", write)
		}
	}
	_, nic := stage.Azure.Get("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/c1-md-nic", networkVersion)
	if subnet := harness.Find(nic, "properties.ipConfigurations.0.properties.subnet.id"); !strings.HasSuffix(subnet, "/hub-vnet/subnets/nodes") {
		t.Errorf("the worker is in the subnet %q, want nodes of hub-vnet", subnet)
	}

	stage.DeleteCluster("c1", "c1-md")
	if diff := cmp.Diff(before, stage.Azure.Resources()); diff != "" {
		t.Errorf("after the deletion it is as before the cluster (-want +got):\n%s", diff)
	}
	_, after := stage.Azure.Get("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-vnet", networkVersion)
	for _, resource := range []map[string]any{network, after} {
		delete(resource, "etag")
	}
	if diff := cmp.Diff(harness.Find(network, "properties.addressSpace.addressPrefixes.0"), harness.Find(after, "properties.addressSpace.addressPrefixes.0")); diff != "" {
		t.Errorf("the network was changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(network["tags"], after["tags"]); diff != "" {
		t.Errorf("the network's tags were changed (-before +after):\n%s", diff)
	}
}
