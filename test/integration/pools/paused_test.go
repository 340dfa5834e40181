package pools_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPausedMachine checks that the VMs of a pool report that their Cluster is paused. Then it pauses one of them: that one is not rolled
// with the others, and it is not deleted in Azure although its Machine is, until the pause ends.
func TestPausedMachine(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	stage.WaitClusterProvisioned("c1")
	stage.CreatePool(stage.AzureMachinePool("c1", "pool"), 2)
	before := stage.WaitPool("pool", 2).Spec.ProviderIDList
	waitNodes(stage, 2, 2)
	pause := func(paused bool) {
		harness.ChangeObject(stage, &infrav1.AzureMachinePoolMachine{ObjectMeta: metav1.ObjectMeta{Name: "pool-0"}},
			func(vm *infrav1.AzureMachinePoolMachine) {
				if vm.Annotations == nil {
					vm.Annotations = map[string]string{}
				}
				delete(vm.Annotations, clusterv1.PausedAnnotation)
				if paused {
					vm.Annotations[clusterv1.PausedAnnotation] = ""
				}
			})
	}
	cluster := func(paused bool, status metav1.ConditionStatus) {
		harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			func(c *clusterv1.Cluster) { c.Spec.Paused = new(paused) })
		for _, name := range []string{"pool-0", "pool-1"} {
			harness.WaitFor(stage, &infrav1.AzureMachinePoolMachine{}, name, "Paused "+string(status)+" with its Cluster",
				func(vm *infrav1.AzureMachinePoolMachine) bool {
					ready := harness.FindCondition(vm, infrav1.ReadyCondition)
					return harness.FindCondition(vm, clusterv1.PausedCondition).Status == status && ready.Status == metav1.ConditionTrue &&
						(ready.Reason == clusterv1.PausedReason) == paused
				})
		}
	}
	cluster(true, metav1.ConditionTrue)
	cluster(false, metav1.ConditionFalse)
	// The end of a pause is shown, too, while the pool is refused.
	stop := func(value string) {
		harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			func(c *clusterv1.Cluster) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, infrav1.StopAnnotation, value) })
	}
	cluster(true, metav1.ConditionTrue)
	stop("fasle")
	harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		func(c *clusterv1.Cluster) { c.Spec.Paused = new(false) })
	harness.WaitFor(stage, &infrav1.AzureMachinePoolMachine{}, "pool-0", "not paused", func(vm *infrav1.AzureMachinePoolMachine) bool {
		return harness.FindCondition(vm, clusterv1.PausedCondition).Status == metav1.ConditionFalse
	})
	stop("false")
	cluster(false, metav1.ConditionFalse)
	pause(true)
	harness.WaitFor(stage, &infrav1.AzureMachinePoolMachine{}, "pool-0", "paused", func(vm *infrav1.AzureMachinePoolMachine) bool {
		return harness.FindCondition(vm, clusterv1.PausedCondition).Status == metav1.ConditionTrue &&
			harness.FindCondition(vm, infrav1.ReadyCondition).Reason == clusterv1.PausedReason
	})
	other := &infrav1.AzureMachinePoolMachine{}
	stage.ReadObject(other, "pool-1")
	if paused := harness.FindCondition(other, clusterv1.PausedCondition); paused.Status != metav1.ConditionFalse {
		t.Errorf("the other one has Paused %q", paused.Status)
	}

	harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}},
		func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "pool", "rolled but for the paused one", func(p *infrav1.AzureMachinePool) bool {
		model := harness.FindCondition(p, infrav1.ScaleSetModelUpdatedCondition)
		return strings.HasPrefix(model.Message, "1 of 2 VMs are of an older template; 2 are Ready") &&
			strings.HasSuffix(model.Message, "1 are paused and stay as they are") &&
			slices.Contains(p.Spec.ProviderIDList, before[0]) && !slices.Contains(p.Spec.ProviderIDList, before[1])
	})

	mark := stage.Azure.MarkRequests()
	machine := &clusterv1.Machine{}
	stage.ReadObject(machine, "pool-0")
	if err := stage.Client.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(stage, &infrav1.AzureMachinePoolMachine{}, "pool-0", "held up by the pause",
		func(vm *infrav1.AzureMachinePoolMachine) bool {
			return strings.Contains(harness.FindCondition(vm, infrav1.ReadyCondition).Message, "The deletion is paused")
		})
	// One that comes in its place shows that everything that was to be done about the deletion has been.
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "pool", "filled up", func(p *infrav1.AzureMachinePool) bool {
		return len(p.Spec.ProviderIDList) == 3 && slices.Contains(p.Spec.ProviderIDList, before[0])
	})
	for _, write := range stage.Azure.WritesSince(mark) {
		if strings.HasPrefix(write, "DELETE") || strings.HasSuffix(write, "/delete") {
			t.Errorf("%s although the VM is to be left alone", write)
		}
	}
	pause(false)
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "pool", "without it", func(p *infrav1.AzureMachinePool) bool {
		return harness.IsReady(p) && len(p.Spec.ProviderIDList) == 2 && !slices.Contains(p.Spec.ProviderIDList, before[0])
	})
}
