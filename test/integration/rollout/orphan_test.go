package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPoolIsGone removes the finalizers of a pool by hand while no manager runs. The garbage collector deletes the objects of its VMs: the next
// manager lets them go, each with a Warning that names its VM, except one that is paused, and deletes nothing in Azure.
func TestPoolIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{replicas: 3})
		var warnings []string
		w.EventRecorded = func(e virtual.Event) {
			if e.Kind == "AzureMachinePoolMachine" && e.Reason == infrav1.LeftBehindInAzureReason {
				warnings = append(warnings, e.Name+" "+e.Note)
			}
		}
		w.startWhole().StopManager()

		pool := &infrav1.AzureMachinePool{}
		w.ReadObject(pool, poolName)
		harness.ChangeObject(w.Stage, pool, func(p *infrav1.AzureMachinePool) { p.Finalizers = nil })
		w.DeleteObjects(pool)
		vms := &infrav1.AzureMachinePoolMachineList{}
		list := func() []infrav1.AzureMachinePoolMachine {
			if err := w.Kubernetes.List(t.Context(), vms, client.InNamespace(w.Namespace)); err != nil {
				t.Fatal(err)
			}
			return vms.Items
		}
		var ids []string
		for i, vm := range list() {
			ids = append(ids, vm.Spec.ProviderID)
			if i == 0 {
				harness.ChangeObject(w.Stage, vm.DeepCopy(), func(vm *infrav1.AzureMachinePoolMachine) {
					vm.Annotations = map[string]string{clusterv1.PausedAnnotation: "true"}
				})
			}
			w.DeleteObjects(&vm)
		}
		mark := w.Azure.MarkRequests()
		w.StartProvider()
		virtual.WaitForSignal(nil, time.Minute)

		if left := list(); len(left) != 1 || left[0].Spec.ProviderID != ids[0] {
			t.Errorf("%d AzureMachinePoolMachines are left, want the paused one", len(left))
		}
		for i, id := range ids {
			if named := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, id) }); named != (i != 0) {
				t.Errorf("a Warning names %s: %t in %q", id, named, warnings)
			}
		}
		for _, request := range w.Azure.RequestsSince(mark) {
			if strings.HasPrefix(request, "DELETE ") {
				t.Errorf("%s", request)
			}
		}
	})
}
