package pools_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestLife makes a pool, makes it larger, smaller, rolls it to another size of VM, and deletes it. At no time does it have fewer
// Ready VMs than it may have.
func TestLife(t *testing.T) {
	t.Parallel()
	for _, mode := range []infrav1.OrchestrationMode{infrav1.UniformOrchestration, infrav1.FlexibleOrchestration} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			watched := &watched{}
			stage.PlayPoolMachines(watched.recordVMs)
			stage.CreateCluster(stage.AzureCluster("c1"))
			stage.WaitClusterProvisioned("c1")
			azurePool := stage.AzureMachinePool("c1", "pool")
			azurePool.Spec.OrchestrationMode = mode
			stage.CreatePool(azurePool, 3)
			stage.WaitPool("pool", 3)
			watched.expectReady(stage, 3)

			scalePool(stage, 4)
			stage.WaitPool("pool", 4)
			watched.expectReady(stage, 4)
			watched.atLeast(2)
			scalePool(stage, 2)
			before := stage.WaitPool("pool", 2)
			watched.expectReady(stage, 2)

			harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}},
				func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
			after := harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "pool", "rolled", func(p *infrav1.AzureMachinePool) bool {
				model := harness.FindCondition(p, infrav1.ScaleSetModelUpdatedCondition)
				return harness.IsReady(p) && model.Status == metav1.ConditionTrue && p.Status.ObservedGeneration == p.Generation &&
					len(p.Spec.ProviderIDList) == 2 && p.Spec.ProviderIDList[0] != before.Spec.ProviderIDList[0]
			})
			for _, id := range after.Spec.ProviderIDList {
				for _, old := range before.Spec.ProviderIDList {
					if id == old {
						t.Errorf("VM %s of the older size still exists", id)
					}
				}
			}
			watched.expectReady(stage, 2)
			if fewest, allowed := watched.readFewest(); fewest < allowed {
				t.Errorf("%d VMs were Ready at a time, at least %d have to be", fewest, allowed)
			}
			stage.DeletePool("pool")
			stage.DeleteCluster("c1")
			if left := stage.Azure.ListResources(); len(left) > 0 {
				t.Errorf("resources left behind: %v", left)
			}
		})
	}
}

func scalePool(stage *harness.Stage, replicas int32) {
	stage.T.Helper()
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = &replicas })
}

// watched counts Ready VMs.
type watched struct {
	mu                  sync.Mutex
	ready, min, allowed int
}

func (w *watched) recordVMs(vms []infrav1.AzureMachinePoolMachine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = 0
	for _, vm := range vms {
		if vm.Status.Ready && vm.DeletionTimestamp.IsZero() {
			w.ready++
		}
	}
	w.min = min(w.min, w.ready)
}

// expectReady waits until this many VMs are Ready.
func (w *watched) expectReady(stage *harness.Stage, want int) {
	stage.T.Helper()
	stage.Eventually("the VMs are Ready", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.ready == want
	})
}

// atLeast begins to look for the fewest.
func (w *watched) atLeast(allowed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.min, w.allowed = w.ready, allowed
}

func (w *watched) readFewest() (fewest, allowed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.min, w.allowed
}

// TestSystemAssignedIdentity gives the VMs of a pool an identity with the default role, in a Cluster that takes its subscription from the
// manager. The webhooks do not know the subscription, so the controller gives the role its scope.
func TestSystemAssignedIdentity(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SubscriptionID: stage.Azure.SubscriptionID})
	stage.CreateIdentity()
	stage.PlayPoolMachines(nil)
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.SubscriptionID = ""
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	azurePool := stage.AzureMachinePool("c1", "pool")
	azurePool.Spec.Identity = infrav1.VMIdentitySystemAssigned
	stage.CreatePool(azurePool, 1)
	role := stage.WaitPool("pool", 1).Spec.SystemAssignedIdentityRole
	isAssigned := func() bool {
		return slices.ContainsFunc(stage.Azure.ListResources(),
			func(id string) bool {
				return strings.Contains(id, "roleAssignments/") && strings.HasSuffix(id, role.Name)
			})
	}
	if role == nil || role.Name == "" || !isAssigned() {
		t.Errorf("no role assignment %+v in %v", role, stage.Azure.ListResources())
	}
	stage.DeletePool("pool")
	stage.DeleteCluster("c1")
	if left := stage.Azure.ListResources(); len(left) > 0 {
		t.Errorf("resources left behind: %v", left)
	}
}
