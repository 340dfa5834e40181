package plan_test

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// TestExistingMachineIsPlanned makes fields of a machine invalid whose VM exists. The VM keeps the settings of its creation, so it is planned,
// and its state is reported. It can be deleted.
func TestExistingMachineIsPlanned(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(*plan.MachineInput)
		// unknown is set if the body of the interface cannot be determined.
		unknown bool
	}{
		"image": {reason: "no image is known", change: func(in *plan.MachineInput) { in.AzureMachine.Spec.Image, in.Machine.Spec.Version = nil, "latest" }},
		"key":   {reason: "it is not encoded", change: func(in *plan.MachineInput) { in.AzureMachine.Spec.SSHPublicKey = "no" }},
		"two subnets": {reason: "the interface is in one of them", unknown: true, change: func(in *plan.MachineInput) {
			in.AzureMachine.Spec.NetworkInterfaces = nil
			subnets := &in.AzureCluster.Spec.NetworkSpec.Subnets
			*subnets = append(*subnets, infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "more", Role: infrav1.SubnetNode}})
		}},
		"size": {reason: "Azure offers it no more", change: func(in *plan.MachineInput) { in.MachineFacts.VMSize = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "machine-worker")
			test.change(&in)
			if errs := machine.CheckSpec(in); len(errs) == 0 {
				t.Errorf("%s: a new VM is not refused", test.reason)
			}
			in.MachineFacts.VMExists = true
			graph, err := machine.BuildPlan(in)
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if graph.Node(plan.VMID(in)) == nil {
				t.Errorf("%s: the VM is not planned", test.reason)
			}
			nic := graph.Node(plan.NICID(in, plan.NICName(in, 0, 1)))
			if nic == nil || nic.Body == nil != test.unknown {
				t.Errorf("%s: the interface is %+v", test.reason, nic)
			}
			if _, err := machine.BuildDeletePlan(in); err != nil {
				t.Errorf("%s: deletion: %v", test.reason, err)
			}
		})
	}
}
