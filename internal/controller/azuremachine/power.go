package azuremachine

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// powerRecheck is how soon the power state of a VM is read again while Azure changes it.
const powerRecheck = 10 * time.Second

// waitStopped keeps a VM that does not exist from being created while VMs have to be stopped.
func waitStopped(power *reconcile.Power) error {
	power.Report(true, "The VM does not exist, and it is not created")
	return reconcile.WaitFor(metav1.Condition{Status: metav1.ConditionFalse, Reason: power.Reason(), Message: power.Describe()})
}

// changePower deallocates or starts the VM as annotations ask. MachineHealthChecks leave the Machine alone from before the VM stops until
// its Node is back. It returns the stopReason with the time of the next check while that is under way.
func (k *Kind) changePower(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) error {
	power := session.Power
	vm, _ := outcome.Result(plan.VMID(in.planned))
	if !power.IsRequested() || !vm.Managed {
		return nil
	}
	if power.Stop && in.planned.AzureMachine.Spec.OSDisk.DiffDiskSettings != nil {
		// https://learn.microsoft.com/en-us/azure/virtual-machines/ephemeral-os-disks
		power.ReportImpossible("Azure cannot deallocate the VM, because its OS disk is ephemeral. The VM keeps running")
		return nil
	}
	if power.Stop {
		if err := session.HoldRemediation(ctx, k.Client, in.machine); err != nil {
			return err
		}
	}
	state := in.planned.MachineFacts.PowerState
	switch {
	case power.Stop && state == "deallocated":
		power.Report(true, "The VM is deallocated")
		return nil
	case !power.Stop && state == "running":
		released, err := session.ReleaseRemediation(ctx, k.Client, in.machine)
		if err != nil || released {
			power.Report(true, "The VM is running")
			return err
		}
		// The Machine's condition wakes the object.
		power.Report(false, "The VM is running, and its Node is not Ready yet")
		return reconcile.RecheckIn(time.Minute, nil)
	}
	action, progress := "start", "The VM is being started"
	if power.Stop {
		action, progress = "deallocate", "The VM is being deallocated"
	}
	power.Report(false, progress)
	if moving := machine.VMState(vm.Observed); !strings.EqualFold(moving, "Succeeded") && !strings.EqualFold(moving, "Failed") {
		return reconcile.RecheckIn(powerRecheck, nil)
	}
	sent := session.RunAction(ctx, engine.Action{Object: session.Name, Method: "POST", ID: vm.ID, SubPath: action})
	if sent.Err != nil {
		problem, after := status.ProblemCondition(infrav1.VMRunningCondition, sent.Err)
		power.Report(false, "Azure does not "+action+" the VM: "+problem.Message)
		in.powerProblem = &problem
		return reconcile.RecheckIn(after, sent.Err)
	}
	after := reconcile.UntilResync
	if sent.State == arm.Ready {
		// The power state is read again to check the result.
		after = time.Second
	}
	return reconcile.RecheckIn(after, nil)
}
