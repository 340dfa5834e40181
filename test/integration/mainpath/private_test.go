package mainpath_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPrivateCluster creates a cluster with the API server behind an internal load balancer with a name in a private DNS zone.
func TestPrivateCluster(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()

	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: infrav1.Internal}}
	stage.CreateCluster(azureCluster)
	got := stage.WaitClusterProvisioned("c1")
	if host := got.Spec.ControlPlaneEndpoint.Host; host != "apiserver.c1.capz.io" {
		t.Errorf("spec.controlPlaneEndpoint.host is %q, want the name in the private DNS zone", host)
	}
	want := []string{
		"PUT ",
		"PUT Microsoft.Network/loadBalancers/c1-internal-lb",
		"PUT Microsoft.Network/natGateways/c1-node-natgw",
		"PUT Microsoft.Network/networkSecurityGroups/c1-controlplane-nsg",
		"PUT Microsoft.Network/networkSecurityGroups/c1-node-nsg",
		"PUT Microsoft.Network/privateDnsZones/c1.capz.io",
		"PUT Microsoft.Network/privateDnsZones/c1.capz.io/A/apiserver",
		"PUT Microsoft.Network/privateDnsZones/c1.capz.io/virtualNetworkLinks/c1-vnet-link",
		"PUT Microsoft.Network/publicIPAddresses/pip-c1-node-natgw",
		"PUT Microsoft.Network/routeTables/c1-node-routetable",
		"PUT Microsoft.Network/virtualNetworks/c1-vnet",
		"PUT Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-controlplane-subnet",
		"PUT Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet",
	}
	if diff := cmp.Diff(want, inGroup("c1", stage.Azure.WritesSince(0))); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	_, record := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/privateDnsZones/c1.capz.io/A/apiserver", "2024-06-01")
	if address := harness.FindString(record, "properties.aRecords.0.ipv4Address"); address != "10.0.0.100" {
		t.Errorf("the record of the API server has the address %q, want that of the internal load balancer", address)
	}

	stage.CreateMachine(stage.AzureMachine("c1", "c1-cp"), harness.ControlPlane, "2")
	stage.WaitMachineProvisioned("c1-cp")
	_, nic := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/c1-cp-nic", networkVersion)
	pool := harness.FindString(nic, "properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools.0.id")
	if want := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Network/loadBalancers/c1-internal-lb/backendAddressPools/c1-internal-lb-backendPool"; pool != want {
		t.Errorf("the machine is in the backend pool %q, want %q", pool, want)
	}

	mark := stage.Azure.MarkRequests()
	stage.DeleteCluster("c1", "c1-cp")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
	if writes := stage.Azure.WritesSince(mark); !slices.Contains(writes, "DELETE resourceGroups/c1") {
		t.Errorf("the group goes whole, got the writes %q", writes)
	}
}
