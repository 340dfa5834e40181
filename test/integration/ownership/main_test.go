// Package ownership_test has tenants try to have the provider write, hand out or delete resources of others: by annotations, copies of
// objects, names that others have, and status. Every try leaves the resources of others unchanged.
package ownership_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

type body = map[string]any

const (
	networkVersion = "2024-05-01"
	computeVersion = "2024-07-01"
	groupVersion   = "2021-04-01"
	aksVersion     = "2025-08-01"
)

// createForeign creates resources of another owner in the subscription, a group with a network, an address and a disk, and returns a
// function for their IDs.
func createForeign(stage *harness.Stage) (id func(string) string) {
	stage.Azure.PutNetwork("hub", "hub-1", "172.16.0.0/16", map[string]string{"theirs": "172.16.1.0/24", "others": "172.16.2.0/24"})
	stage.Azure.PutResource("resourceGroups/hub/providers/Microsoft.Network/publicIPAddresses/theirs", networkVersion, body{
		"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"publicIPAllocationMethod": "Static"},
	})
	stage.Azure.PutResource("resourceGroups/hub/providers/Microsoft.Compute/disks/theirs", computeVersion, body{
		"location": "eastus", "sku": body{"name": "Premium_LRS"},
		"properties": body{"creationData": body{"createOption": "Empty"}, "diskSizeGB": 8},
	})
	return func(path string) string {
		return "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/hub" + path
	}
}

// checkStands fails the test when a resource of before or a subnet is gone.
func checkStands(t *testing.T, stage *harness.Stage, before []string, subnets ...string) {
	t.Helper()
	now := map[string]bool{}
	for _, id := range stage.Azure.ListResources() {
		now[id] = true
	}
	var gone []string
	for _, id := range before {
		if !now[id] {
			gone = append(gone, id)
		}
	}
	if diff := cmp.Diff([]string(nil), gone); diff != "" {
		t.Errorf("a resource of another owner is gone:\n%s", diff)
	}
	for _, subnet := range subnets {
		if status, _ := stage.Azure.GetResource(subnet, networkVersion); status != 200 {
			t.Errorf("the subnet %s is gone: %d", subnet, status)
		}
	}
}

func withName(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func setAnnotation(object metav1.Object, key, value string) {
	annotations := map[string]string{}
	for k, v := range object.GetAnnotations() {
		annotations[k] = v
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// bringNetwork gives a cluster the foreign network, in which it makes its subnets.
func bringNetwork(c *infrav1.AzureCluster, nodes string) *infrav1.AzureCluster {
	c.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "hub", Name: "hub-1",
		VnetClassSpec: infrav1.VnetClassSpec{CIDRBlocks: []string{"172.16.0.0/16"}}}
	c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "control-planes", Role: infrav1.SubnetControlPlane,
			CIDRBlocks: []string{"172.16.10.0/24"}}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: nodes, Role: infrav1.SubnetNode, CIDRBlocks: []string{"172.16.11.0/24"}}},
	}
	return c
}
