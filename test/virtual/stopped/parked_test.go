package stopped_test

import (
	"testing"
	"testing/synctest"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestParkedNodes makes an AKS pool smaller and larger that deallocates its nodes and keeps their VMs. Only nodes count, and the pool is Ready.
func TestParkedNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := virtual.New(t)
		s.StartProvider()
		controlPlane := s.ControlPlane("aks")
		defaults.FillAzureManagedControlPlane(controlPlane)
		s.CreateManagedCluster(controlPlane,
			harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1, Change: defaults.FillAzureManagedMachinePool},
			harness.ManagedPool{Name: "pool1", Mode: "User", Replicas: 3, Change: func(p *infrav1.AzureManagedMachinePool) {
				p.Spec.ScaleDownMode = new("Deallocate")
				defaults.FillAzureManagedMachinePool(p)
			}})
		s.WaitReady(&infrav1.AzureManagedMachinePool{}, "aks-pool1")
		for _, replicas := range []int32{1, 2} {
			harness.ChangeObject(s.Stage, virtual.MachinePool("aks-pool1"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(replicas) })
			virtual.WaitForSignal(nil, time.Hour)
			pool := &infrav1.AzureManagedMachinePool{}
			s.ReadObject(pool, "aks-pool1")
			if ready := harness.FindCondition(pool, infrav1.ReadyCondition); !harness.IsReady(pool) || pool.Status.Replicas != replicas ||
				len(pool.Spec.ProviderIDList) != int(replicas) {
				t.Errorf("with %d replicas the pool has %d, and %d provider IDs; Ready: %s", replicas, pool.Status.Replicas,
					len(pool.Spec.ProviderIDList), ready.Message)
			}
		}
	})
}
