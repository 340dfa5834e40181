package rollout_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestRefusedDeletion lets Azure refuse to delete a VM for ten minutes; it expects that the pool reports it all the while, and that the
// provider pauses between its requests to Azure.
func TestRefusedDeletion(t *testing.T) {
	for name, status := range map[string]int{"busy": http.StatusConflict, "broken": http.StatusInternalServerError} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, three)
				w.startWhole()
				if err := w.Azure.AddFault(fault.Rule{Method: http.MethodPost, ID: "*/virtualmachinescalesets/*", Count: -1, Kind: fault.Status,
					Status: status, Code: "Refused", Message: "No."}); err != nil {
					t.Fatal(err)
				}
				mark := w.Azure.MarkRequests()
				w.settings.replicas = 2
				harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
					func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(2)) })
				w.waitUntil("Azure refuses", func() bool { return countCalls(w.Azure, mark)["POST refused"] > 0 })
				for range 60 {
					virtual.WaitForSignal(nil, 10*time.Second)
					azurePool := &infrav1.AzureMachinePool{}
					w.ReadObject(azurePool, poolName)
					if said := harness.FindCondition(azurePool, infrav1.ScaleSetDesiredReplicasCondition); said.Status == metav1.ConditionTrue {
						t.Fatalf("Azure refuses to delete a VM, and the condition of the pool is %+v", said)
					}
					if last := azurePool.Status.LastReconciledReplicas; last == nil || *last != 3 {
						t.Fatal("as many VMs as are wanted were last there when three were")
					}
				}
				if asked := countCalls(w.Azure, mark)["POST refused"]; asked < 3 || asked > 60 {
					t.Errorf("Azure was asked %d times in ten minutes", asked)
				}
				w.Azure.ClearFaults()
				w.waitUntil("the pool is smaller", w.isWhole)
			})
		})
	}
}
