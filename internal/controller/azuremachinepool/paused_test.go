package azuremachinepool

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestPausedConditionOfMachines reconciles a paused pool. Its AzureMachinePoolMachines have no controller of their own, so their Paused condition is written
// with the pool's.
func TestPausedConditionOfMachines(t *testing.T) {
	for name, test := range map[string]struct {
		reason            string
		cluster, pool, vm bool
		status            metav1.ConditionStatus
		message           string
	}{
		"Cluster": {"the pause of the Cluster is one of all its objects", true, false, false, metav1.ConditionTrue,
			"Cluster spec.paused is set to true"},
		"both": {"each pause has to be ended", true, false, true, metav1.ConditionTrue,
			"Cluster spec.paused is set to true, AzureMachinePoolMachine has the cluster.x-k8s.io/paused annotation"},
		"pool": {"the annotation of the pool is not one of its VMs", false, true, false, metav1.ConditionFalse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			paused := map[bool]map[string]string{true: {clusterv1.PausedAnnotation: ""}}
			cluster := storetest.NewCluster("c", "AzureCluster", "c")
			cluster.Spec.Paused = &test.cluster
			machinePool := &clusterv1.MachinePool{ObjectMeta: storetest.NewMeta("p"), Spec: clusterv1.MachinePoolSpec{ClusterName: "c"}}
			azurePool := &infrav1.AzureMachinePool{ObjectMeta: storetest.NewMeta("p")}
			azurePool.Annotations = paused[test.pool]
			azurePool.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "p",
				UID: "u"}}
			vm := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("p-7")}
			vm.Labels = map[string]string{infrav1.MachinePoolNameLabel: "p"}
			vm.Annotations = paused[test.vm]
			store := storetest.NewClient(t, cluster, machinePool, azurePool, vm)
			runner := reconcile.NewAzureRunner(reconcile.Services{Client: store, Now: time.Now, Resync: time.Hour,
				Recorder: func(string) events.EventRecorder { return events.NewFakeRecorder(10) }}, &Kind{Client: store})
			if _, err := runner.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(azurePool)}); err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureMachinePoolMachine{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(vm), stored); err != nil {
				t.Fatal(err)
			}
			condition := conditions.Get(stored, clusterv1.PausedCondition)
			if condition == nil || condition.Status != test.status || condition.Message != test.message {
				t.Errorf("%s: %+v", test.reason, condition)
			}
		})
	}
}
