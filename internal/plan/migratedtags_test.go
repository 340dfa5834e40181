package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestMigratedTags removes an additional tag that the established provider wrote last and that the spec no longer has, for each kind
// with an annotation about such tags.
func TestMigratedTags(t *testing.T) {
	const prefix = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-"
	const compute = group + "c1/providers/Microsoft.Compute/"
	annotated := func(of string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: "n", Annotations: map[string]string{prefix + of: `{"cost":"1","team":"red"}`}}
	}
	for name, test := range map[string]struct {
		reason   string
		resource arm.ID
		memory   applied.State
	}{
		"AzureCluster": {"the tags of the resource group", group + "c1", cluster.LastApplied(plan.ClusterInput{
			SubscriptionID: "00000000-0000-0000-0000-000000000001", AzureCluster: &infrav1.AzureCluster{ObjectMeta: annotated("rg")},
		})},
		"AzureMachine": {"the tags of the VM", compute + "virtualMachines/m", machine.LastApplied(plan.MachineInput{
			ClusterInput: plan.ClusterInput{SubscriptionID: "00000000-0000-0000-0000-000000000001"},
			AzureMachine: &infrav1.AzureMachine{ObjectMeta: annotated("vm")},
		})},
		"AzureMachinePool": {"the tags of the scale set", compute + "virtualMachineScaleSets/s", pool.LastApplied(pool.Input{
			ClusterInput:     plan.ClusterInput{SubscriptionID: "00000000-0000-0000-0000-000000000001"},
			AzureMachinePool: &infrav1.AzureMachinePool{ObjectMeta: annotated("vmss")},
		})},
	} {
		t.Run(name, func(t *testing.T) {
			g := &arm.Graph{}
			g.Add(arm.Node{ID: test.resource, Policy: arm.Repair, Body: map[string]any{"tags": map[string]any{"team": "red"}}})
			test.memory.AddRemovals(g)
			if diff := cmp.Diff([]string{"cost"}, g.Node(test.resource).DropTags); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
