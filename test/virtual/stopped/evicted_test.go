package stopped_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestEvictedVMOfPool has Azure evict a VM of pools whose size an autoscaler owns, so that nothing replaces the VM. Azure shows it as deallocated.
// The conditions have the reason of an AzureMachine whose spot VM was evicted, and in a pool of regular VMs that of a stopped VM.
func TestEvictedVMOfPool(t *testing.T) {
	for name, test := range map[string]struct {
		mode   infrav1.OrchestrationMode
		spot   *infrav1.SpotVMOptions
		reason string
	}{
		"spot, uniform":  {infrav1.UniformOrchestration, &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDeallocate)}, infrav1.SpotVMEvictedReason},
		"spot, flexible": {infrav1.FlexibleOrchestration, &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDeallocate)}, infrav1.SpotVMEvictedReason},
		"regular":        {infrav1.UniformOrchestration, nil, infrav1.VMStoppedReason},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Play(t, func(s *virtual.Scenario) {
				s.PlayPoolMachines(nil)
				s.ApplyNetwork("c1", nil)
				s.WaitClusterProvisioned("c1")
				pool := s.AzureMachinePool("c1", "pool")
				pool.Spec.OrchestrationMode, pool.Spec.Template.SpotVMOptions = test.mode, test.spot
				defaults.FillAzureMachinePool(pool, "")
				s.CreatePool(pool, 2)
				s.WaitReady(pool, "pool")
				harness.ChangeObject(s.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}, func(p *clusterv1.MachinePool) {
					p.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "external-autoscaler"}
				})
				first := &infrav1.AzureMachinePoolMachine{}
				list := &infrav1.AzureMachinePoolMachineList{}
				s.WaitUntil("the VMs have Nodes", func() bool {
					if err := s.Client.List(t.Context(), list, client.InNamespace(s.Namespace)); err != nil {
						t.Fatal(err)
					}
					return len(list.Items) == 2 && !slices.ContainsFunc(list.Items, func(vm infrav1.AzureMachinePoolMachine) bool { return vm.Status.NodeRef == nil })
				})
				name, id := list.Items[0].Name, strings.TrimPrefix(list.Items[0].Spec.ProviderID, "azure://")
				if test.spot != nil {
					s.AddFault(fault.Rule{Now: true, ID: id, Kind: fault.Evict})
				} else if status, answer := s.SendAsUser("POST", strings.SplitN(id, "/", 4)[3]+"/deallocate", "2025-04-01", nil); status > 299 {
					t.Fatalf("%d %s", status, answer)
				}
				machine := &clusterv1.Machine{}
				s.ReadObject(machine, name)
				before := machine.DeepCopy()
				conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionFalse, Reason: clusterv1.MachineNodeNotReadyReason})
				if err := s.Client.Status().Patch(t.Context(), machine, client.MergeFrom(before)); err != nil {
					t.Fatal(err)
				}
				s.WaitUntil("the VM counts as stopped", func() bool {
					s.ReadObject(first, name)
					s.ReadObject(pool, "pool")
					return harness.FindCondition(first, infrav1.VMRunningCondition).Status == metav1.ConditionFalse && !harness.IsReady(pool)
				})
				s.WaitQuiet()
				s.ReadObject(first, name)
				s.ReadObject(pool, "pool")
				for conditionType, object := range map[string]harness.Conditioned{infrav1.VMRunningCondition: first, infrav1.ScaleSetDesiredReplicasCondition: pool} {
					got := harness.FindCondition(object, conditionType)
					if evicted := strings.Contains(got.Message, "he spot VM is deallocated: Azure evicted it, or it was stopped"); got.Reason != test.reason || evicted != (test.spot != nil) {
						t.Errorf("%s has the reason %s, want %s: %s", conditionType, got.Reason, test.reason, got.Message)
					}
				}
				if !slices.Contains(pool.Spec.ProviderIDList, list.Items[0].Spec.ProviderID) {
					t.Error("the VM was replaced, although an autoscaler owns the number of VMs")
				}
			})
		})
	}
}
