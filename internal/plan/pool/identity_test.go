package pool_test

import (
	"slices"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestIdentityOutlivesRole removes the system-assigned identity of a pool. The scale set keeps it while a role assignment of the pool
// exists, because without the identity nothing proves in Azure that the assignment is the pool's.
func TestIdentityOutlivesRole(t *testing.T) {
	const role = arm.ID("/subscriptions/s/providers/Microsoft.Authorization/roleAssignments/r")
	const system = "identity.type[SystemAssigned]"
	for name, test := range map[string]struct {
		reason  string
		created []arm.ID
		removes bool
	}{
		"role exists":  {"the role goes first", []arm.ID{role}, false},
		"role is gone": {"the identity goes", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, func(in *pool.Input) { in.AzureMachinePool.Spec.Identity = infrav1.VMIdentitySystemAssigned })
			content := applied.Read(in.AzureMachinePool.Annotations)
			content.SetInventory("AzureMachinePool", in.AzureMachinePool, test.created, nil)
			content.Store(in.AzureMachinePool)
			in.AzureMachinePool.Spec.Identity = infrav1.VMIdentityNone
			graph, err := pool.BuildPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			node := graph.Node(pool.ScaleSetID(in))
			if removes := slices.Contains(node.OwnedPaths, system); removes != test.removes {
				t.Errorf("%s: the identity is removed: %t", test.reason, removes)
			}
			done := arm.Outcome{Results: []arm.Result{{ID: node.ID, State: arm.Ready, Owned: true, Observed: in.PoolFacts.ScaleSet}}}
			after := pool.LastApplied(in).PathsAfter(graph, done)
			applied.Content{Applied: after}.Store(in.AzureMachinePool)
			recorded := slices.Contains(pool.LastApplied(in).AppliedPaths(node.ID), "/identity/type[SystemAssigned]")
			if recorded == test.removes {
				t.Errorf("%s: the identity is recorded afterwards: %t", test.reason, recorded)
			}
			content.Store(in.AzureMachinePool)
			deletion, err := pool.BuildDeletePlan(in)
			if err != nil {
				t.Fatal(err)
			}
			if deletion.Has(role) == test.removes {
				t.Errorf("%s: the deletion of the pool has the role: %t", test.reason, deletion.Has(role))
			}
		})
	}
}
