package managed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPoolWithoutScaleSet lets Azure show a pool with another type than VirtualMachineScaleSets; it expects a condition that its VMs are
// not listed, and that the provider IDs stay.
func TestPoolWithoutScaleSet(t *testing.T) {
	t.Parallel()
	play(t, func(s *virtual.Scenario) {
		s.StartProvider()
		c := s.BuildASOCluster("c1", "pool0", "pool1")
		c.Pools[1].Spec.Resources[0] = editManifest(s.T, c.Pools[1].Spec.Resources[0], func(spec body) { delete(spec, "type") })
		s.CreateASOCluster(c)
		pool := &infrav1.AzureASOManagedMachinePool{}
		s.ReadObject(pool, "c1-pool1")
		before := pool.Spec.ProviderIDList
		s.EditResource(pool1Path, body{"properties": body{"type": "VirtualMachines"}})
		s.WaitUntil("the condition names the type", func() bool {
			s.AdvanceClock(time.Minute)
			s.ReadObject(pool, "c1-pool1")
			condition := harness.FindCondition(pool, infrav1.ScaleSetReadyCondition)
			return condition.Reason == infrav1.NotSupportedReason && strings.Contains(condition.Message, "agent pools of type VirtualMachines")
		}, func() string { return harness.EncodeStatus(pool) })
		if diff := cmp.Diff(before, pool.Spec.ProviderIDList); diff != "" || len(before) != 2 {
			s.T.Errorf("provider IDs (-before +after):\n%s", diff)
		}
		if harness.IsReady(pool) {
			s.T.Error("the pool is Ready")
		}
		replicas := machinePool("c1-pool1")
		if s.ReadObject(replicas, "c1-pool1"); *replicas.Spec.Replicas != 2 {
			s.T.Errorf("the MachinePool has %d replicas", *replicas.Spec.Replicas)
		}
	})
}
