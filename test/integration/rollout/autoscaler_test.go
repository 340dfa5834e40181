package rollout_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestAutoscalerScalesDown sends the two requests of the cluster-autoscaler, which annotates the Machine and then lowers the replicas.
// Nothing happens after the first one. After the second one exactly that VM goes, and none is made.
// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/clusterapi/clusterapi_nodegroup.go
func TestAutoscalerScalesDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, three)
		w.startWhole()
		mark, before := w.Azure.MarkRequests(), w.listVMNames()
		chosen := before[1] // neither the oldest nor the newest
		harness.ChangeObject(w.Stage, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: chosen}}, func(m *clusterv1.Machine) {
			m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: time.Now().String()}
		})
		virtual.WaitForSignal(nil, 30*time.Minute)
		if diff := cmp.Diff(before, w.listVMNames()); diff != "" {
			t.Errorf("VMs changed because of an annotation alone (-before +after):\n%s", diff)
		}
		if writes := w.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("an annotation alone has Azure written to: %v", writes)
		}
		w.rules.checkRollout("after the annotation")
		w.rules.endChecks()
		w.settings.replicas = 2
		harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
			func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(2)) })
		w.waitUntil("the pool is smaller", w.isWhole)
		virtual.WaitForSignal(nil, 30*time.Minute)
		want := slices.DeleteFunc(before, func(name string) bool { return name == chosen })
		if diff := cmp.Diff(want, w.listVMNames()); diff != "" {
			t.Errorf("VMs (-want +got):\n%s", diff)
		}
		asked := countCalls(w.Azure, mark)
		if asked["POST"] != 1 || asked["PUT"] != 0 {
			t.Errorf("one VM is deleted and none is made: %s", formatFigures(asked))
		}
	})
}

// listVMNames returns those of the VMs that there are in Azure.
func (w *world) listVMNames() []string {
	var out []string
	for name := range w.rules.listInstances() {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
