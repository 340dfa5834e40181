package azuremachine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestVMRunningReasons are the reasons of VMRunning that alerts and MachineHealthChecks look for.
func TestVMRunningReasons(t *testing.T) {
	vm := arm.NewID("s", "g", "Microsoft.Compute/virtualMachines", "m")
	for name, tc := range map[string]struct {
		reason string
		result arm.Result
		facts  plan.MachineFacts
		data   []byte
		want   string
	}{
		"creating": {reason: "Azure makes the VM", result: arm.Result{State: arm.Creating}, data: []byte("x"), want: "VMCreating"},
		"updating": {reason: "Azure changes the VM", result: arm.Result{State: arm.Updating}, facts: plan.MachineFacts{VMExists: true},
			want: "VMUpdating"},
		"deleting": {reason: "Azure deletes the VM", result: arm.Result{State: arm.Deleting}, facts: plan.MachineFacts{VMExists: true},
			want: "VMDeleting"},
		"bootstrap data": {reason: "Cluster API is not through",
			result: arm.Result{State: arm.Waiting, Message: "the Secret with the bootstrap data does not exist yet"}, want: "WaitingForBootstrapData"},
		"data existed": {reason: "a VM that exists has booted with it", result: arm.Result{State: arm.Waiting},
			facts: plan.MachineFacts{VMExists: true}, want: "Waiting"},
		"refused": {reason: "Azure refuses the VM",
			result: arm.Result{State: arm.Failed, Err: &arm.Error{Method: "PUT", ID: vm, Code: "X"}}, data: []byte("x"), want: "Failed"},
		"failed": {reason: "Azure has made a VM that does not work",
			result: arm.Result{State: arm.Failed, Observed: []byte(`{"properties":{"provisioningState":"Failed"}}`),
				Err: &arm.Error{Method: "PUT", ID: vm, Code: "X"}}, facts: plan.MachineFacts{VMExists: true}, want: "VMProvisionFailed"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.result.ID, tc.result.Group = vm, infrav1.VMRunningCondition
			outcome := arm.Outcome{Results: []arm.Result{tc.result}}
			planned := plan.MachineInput{AzureMachine: &infrav1.AzureMachine{}, MachineFacts: tc.facts, BootstrapData: tc.data}
			in := &input{azureMachine: &infrav1.AzureMachine{}, planned: planned}
			reportGroups(in, outcome, describeVM(groupConditions(outcome), in, outcome))
			for _, of := range []string{infrav1.VMRunningCondition, infrav1.ReadyCondition} {
				if diff := cmp.Diff(tc.want, conditions.GetReason(in.azureMachine, of)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tc.reason, of, diff)
				}
			}
		})
	}
}

// TestFailureDomain reports the zone in which Azure has the VM: the Machine may name another one after its VM was created.
func TestFailureDomain(t *testing.T) {
	for reason, test := range map[string]struct{ vm, want string }{
		"the VM is in another zone": {`{"zones":["2"]}`, "2"},
		"the VM is in no zone":      {`{}`, ""},
	} {
		planned := plan.MachineInput{Machine: &clusterv1.Machine{}, AzureMachine: &infrav1.AzureMachine{}}
		planned.AzureCluster, planned.AzureMachine.Name = &infrav1.AzureCluster{}, "m"
		planned.Machine.Spec.FailureDomain = "1"
		in := &input{azureMachine: &infrav1.AzureMachine{}, machine: planned.Machine, planned: planned}
		reportVM(in, arm.Outcome{Results: []arm.Result{{ID: plan.VMID(planned), State: arm.Ready, Owned: true, Observed: []byte(test.vm)}}})
		if got := in.azureMachine.Status.FailureDomain; got != test.want {
			t.Errorf("%s: got %q, want %q", reason, got, test.want)
		}
	}
}
