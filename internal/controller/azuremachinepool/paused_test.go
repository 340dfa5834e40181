package azuremachinepool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestPaused has VMs of a pool say whether they are paused, and by whom: they have no passes of their own.
func TestPaused(t *testing.T) {
	for name, test := range map[string]struct {
		reason      string
		cluster, vm bool
		status      metav1.ConditionStatus
		message     string
	}{
		"Cluster": {"all of it is", true, false, metav1.ConditionTrue, "Cluster spec.paused is set to true"},
		"both": {"each has to be taken back", true, true, metav1.ConditionTrue,
			"Cluster spec.paused is set to true, AzureMachinePoolMachine has the cluster.x-k8s.io/paused annotation"},
		"pool": {"its VMs are not, though nobody looks after them", false, false, metav1.ConditionFalse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			vm := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("p-7")}
			vm.Labels = map[string]string{infrav1.MachinePoolNameLabel: "p"}
			if test.vm {
				vm.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
			}
			k := &Kind{Client: storetest.NewClient(t, vm)}
			in := &input{cluster: &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{Paused: &test.cluster}},
				azurePool: &infrav1.AzureMachinePool{ObjectMeta: storetest.NewMeta("p")}}
			if err := k.MarkPaused(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureMachinePoolMachine{}
			if err := k.Client.Get(t.Context(), client.ObjectKeyFromObject(vm), stored); err != nil {
				t.Fatal(err)
			}
			paused := conditions.Get(stored, clusterv1.PausedCondition)
			if paused == nil || paused.Status != test.status || paused.Message != test.message {
				t.Errorf("%s: %+v", test.reason, paused)
			}
		})
	}
}
