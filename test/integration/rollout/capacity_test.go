package rollout_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestCapacity checks that a pool shows the capacity of its nodes, by which the cluster autoscaler scales it up from zero nodes.
func TestCapacity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{replicas: 1})
		w.startWhole()
		azurePool := &infrav1.AzureMachinePool{}
		w.ReadObject(azurePool, poolName)
		for _, resource := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			if quantity := azurePool.Status.Capacity[resource]; quantity.Sign() <= 0 {
				t.Errorf("status.capacity of the pool has %s of %s", quantity.String(), resource)
			}
		}
		want := &infrav1.NodeInfo{Architecture: infrav1.ArchitectureAmd64, OperatingSystem: infrav1.OperatingSystemLinux}
		if diff := cmp.Diff(want, azurePool.Status.NodeInfo); diff != "" {
			t.Errorf("status.nodeInfo of the pool (-want +got):\n%s", diff)
		}
	})
}
