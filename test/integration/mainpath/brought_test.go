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

// TestBroughtGroup uses an existing resource group. The provider does not tag, change or delete it, and resources in it that do not
// belong to the cluster stay.
func TestBroughtGroup(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutResource("resourceGroups/mine", groupVersion, map[string]any{"location": "eastus", "tags": map[string]any{"team": "a"}})
	stage.Azure.PutResource("resourceGroups/mine/providers/Microsoft.Network/routeTables/other", networkVersion,
		map[string]any{"location": "eastus", "properties": map[string]any{}})
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()

	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.ResourceGroup = "mine"
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	want := slices.DeleteFunc(slices.Clone(clusterWrites), func(write string) bool { return write == "PUT " })
	if diff := cmp.Diff(want, inGroup("mine", stage.Azure.WritesSince(0))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	stage.CreateMachine(stage.AzureMachine("c1", "c1-cp"), harness.ControlPlane, "")
	stage.WaitMachineProvisioned("c1-cp")

	stage.DeleteCluster("c1", "c1-cp")
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("after the deletion it is as before the cluster (-want +got):\n%s", diff)
	}
	if _, group := stage.Azure.GetResource("resourceGroups/mine", groupVersion); !cmp.Equal(group["tags"], map[string]any{"team": "a"}) {
		t.Errorf("the group's tags were changed: %v", group["tags"])
	}
}

// TestBroughtNetwork uses a network in another group that existed before, with its subnets. None of them is written or
// deleted.
func TestBroughtNetwork(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason                        string
		addresses, controlPlane, node string
		cidrBlocks                    bool
	}{
		"default addresses": {
			reason:    "the subnets have the ranges that defaulting fills in",
			addresses: "10.0.0.0/8", controlPlane: "10.0.0.0/16", node: "10.1.0.0/16",
		},
		"addresses left out": {
			reason:    "users do not repeat the ranges of a network that they bring; those of defaulting have no effect",
			addresses: "172.16.0.0/12", controlPlane: "172.16.1.0/24", node: "172.16.2.0/24",
		},
		"addresses repeated": {
			reason:    "the spec has the values of Azure",
			addresses: "172.16.0.0/12", controlPlane: "172.16.1.0/24", node: "172.16.2.0/24", cidrBlocks: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.Azure.PutNetwork("hub", "hub-vnet", test.addresses, map[string]string{"cp": test.controlPlane, "nodes": test.node})
			before, network := stage.Azure.ListResources(), readHub(stage)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()

			azureCluster := stage.AzureCluster("c1")
			spec := &azureCluster.Spec.NetworkSpec
			spec.Vnet = infrav1.VnetSpec{ResourceGroup: "hub", Name: "hub-vnet"}
			spec.Subnets = infrav1.Subnets{
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode}},
			}
			if test.cidrBlocks {
				spec.Vnet.CIDRBlocks = []string{test.addresses}
				spec.Subnets[0].CIDRBlocks, spec.Subnets[1].CIDRBlocks = []string{test.controlPlane}, []string{test.node}
			}
			stage.CreateCluster(azureCluster)
			stage.WaitClusterProvisioned("c1")
			stage.CreateMachine(stage.AzureMachine("c1", "c1-md"), harness.Worker, "")
			stage.WaitMachineProvisioned("c1-md")
			_, nic := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/c1-md-nic", networkVersion)
			if subnet := harness.FindString(nic, "properties.ipConfigurations.0.properties.subnet.id"); !strings.HasSuffix(subnet,
				"/hub-vnet/subnets/nodes") {
				t.Errorf("the worker is in the subnet %q, want nodes of hub-vnet", subnet)
			}

			stage.DeleteCluster("c1", "c1-md")
			for _, write := range stage.Azure.WritesSince(0) {
				if strings.Contains(write, "resourceGroups/hub") {
					t.Errorf("%s: the network is the user's, but the provider sent %s", test.reason, write)
				}
			}
			if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: after the deletion it is as before the cluster (-before +after):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(network, readHub(stage)); diff != "" {
				t.Errorf("%s: the network was changed (-before +after):\n%s", test.reason, diff)
			}
		})
	}
}

// readHub returns the network that the user brought, without its etag and those of its subnets, which Azure changes by itself.
func readHub(stage *harness.Stage) map[string]any {
	stage.T.Helper()
	_, network := stage.Azure.GetResource("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-vnet", networkVersion)
	delete(network, "etag")
	properties, _ := network["properties"].(map[string]any)
	subnets, _ := properties["subnets"].([]any)
	for _, subnet := range subnets {
		delete(subnet.(map[string]any), "etag")
	}
	return network
}
