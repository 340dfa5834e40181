package refused_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestSecondSubnet adds a second subnet of the nodes to a cluster with a machine that names none. A new machine that names none is refused. The
// existing one stays in its subnet and Ready, reports that its VM was stopped, is not written, and can be deleted.
func TestSecondSubnet(t *testing.T) {
	virtual.Play(t, func(s *virtual.Scenario) {
		s.StartProvider()
		s.ApplyNetwork("c1", nil)
		s.WaitClusterProvisioned("c1")
		s.ApplyMachine("c1", "m1", harness.Worker)
		s.WaitMachineProvisioned("m1")
		harness.ChangeObject(s.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{
				Name: "more-nodes", Role: infrav1.SubnetNode, CIDRBlocks: []string{"10.200.0.0/16"}}})
			defaults.FillAzureCluster(c)
		})
		s.ApplyMachine("c1", "m2", harness.Worker)
		read := func(name string) *infrav1.AzureMachine {
			machine := &infrav1.AzureMachine{}
			s.ReadObject(machine, name)
			return machine
		}
		s.WaitUntil("the new machine is refused", func() bool {
			return strings.Contains(harness.FindCondition(read("m2"), infrav1.VMRunningCondition).Message, "the cluster has 2 subnets with the role node")
		})
		s.AdvanceClock(10 * time.Minute) // The subnet is created.
		mark := s.Azure.MarkRequests()
		s.AdvanceClock(2 * time.Hour)
		if m := read("m1"); !harness.IsReady(m) || !m.Status.Ready {
			t.Errorf("the existing machine is not Ready: %s", harness.EncodeStatus(m))
		}
		if writes := s.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("the existing machine is written: %v", writes)
		}
		s.PostAction("Microsoft.Compute/virtualMachines/m1", "powerOff")
		s.WaitUntil("the stopped VM is reported", func() bool {
			running := harness.FindCondition(read("m1"), infrav1.VMRunningCondition)
			return running.Status == metav1.ConditionFalse && running.Reason == infrav1.VMStoppedReason
		})
		s.DeleteMachine("m1")
		s.DeleteMachine("m2")
	})
}
