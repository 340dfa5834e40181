package requests_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPolicyTags lets Azure Policy add a tag to each written resource, also to agent pools; it expects that this causes no other write,
// neither during the creation of a cluster nor afterwards, and that the tag stays.
func TestPolicyTags(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		tag := map[string]any{"tags": map[string]any{"costs": "4711"}}
		for _, method := range []string{http.MethodPut, http.MethodPatch} {
			for _, rule := range []fault.Rule{{Type: types.AgentPool, Patch: map[string]any{"properties": tag}}, {Patch: tag}} {
				rule.Kind, rule.Method, rule.Count = fault.Modify, method, -1
				if err := w.Azure.AddFault(rule); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.BuildCluster("c1", 0)
		w.BuildAKSCluster("aks1", 2)
		if diff := cmp.Diff(slices.Compact(harness.DropKubeconfigReads(w.Azure.WritesSince(0))),
			harness.DropKubeconfigReads(w.Azure.WritesSince(0))); diff != "" {
			t.Errorf("what is written more than once (-once +all):\n%s", diff)
		}
		mark := w.Azure.MarkRequests()
		harness.ChangeObject(w.Stage, virtual.MachinePool("aks1-pool1"), func(o *clusterv1.MachinePool) { o.Spec.Replicas = new(int32(3)) })
		w.WaitUntil("the pool is larger",
			virtual.ObjectMatches(w.Scenario, &infrav1.AzureManagedMachinePool{}, "aks1-pool1", func(o *infrav1.AzureManagedMachinePool) bool {
				return harness.IsReady(o) && o.Status.Replicas == 3
			}))
		w.countHour()
		w.checkWrites("a larger pool", mark, "PUT resourceGroups/aks1/Microsoft.ContainerService/managedClusters/aks1/agentPools/pool1")
		for _, path := range []string{"resourceGroups/c1", "resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-control-plane-0",
			"resourceGroups/aks1/Microsoft.ContainerService/managedClusters/aks1"} {
			if got := harness.FindString(w.readShown(path), "tags.costs"); got != "4711" {
				t.Errorf("%s has the tag %q of the policy", path, got)
			}
		}
		if got := harness.FindString(w.readShown("resourceGroups/aks1/Microsoft.ContainerService/managedClusters/aks1/agentPools/pool1"),
			"properties.tags.costs"); got != "4711" {
			t.Errorf("the pool has the tag %q of the policy", got)
		}
	})
}
