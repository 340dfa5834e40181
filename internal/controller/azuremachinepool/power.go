package azuremachinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stopping"
)

// leavesWithoutVMs reports whether the pool has to have no VMs while it is stopped. The size of a pool that an autoscaler in Azure chooses
// is not changed; its VMs are deallocated.
func (in *input) leavesWithoutVMs() bool {
	return in.power.Stop && in.power.ScaleToZero && !in.isScaledElsewhere()
}

// applyPower plans a pool that has to be stopped without VMs: one that is left without them, and one that does not exist yet.
func (in *input) applyPower() {
	in.planned.PowerRequested = in.power.IsRequested()
	if in.leavesWithoutVMs() || in.power.Stop && !in.scaleSet.Exists {
		in.planned.MachinePool = in.planned.MachinePool.DeepCopy()
		in.planned.MachinePool.Spec.Replicas = new(int32(0))
	}
}

// holdRollout drops the actions on VMs that have to be deallocated: none is replaced, and none is added.
func (in *input) holdRollout(actions rollout.Actions) rollout.Actions {
	if in.power.Stop && !in.leavesWithoutVMs() {
		return rollout.Actions{}
	}
	return actions
}

// changePower deallocates or starts the VMs of the pool as annotations ask. MachineHealthChecks leave the Machines alone from before the VMs
// stop until their Nodes are back. It returns the stopReason with the time of the next check while that is under way.
func (k *Kind) changePower(ctx context.Context, session reconcile.Session, in *input) error {
	power := session.Power
	if !power.IsRequested() {
		return nil
	}
	if in.leavesWithoutVMs() {
		power.Report(len(in.vms) == 0, fmt.Sprintf("%d VMs of the pool are not deleted yet", len(in.vms)))
		return nil
	}
	if power.Stop && in.planned.AzureMachinePool.Spec.Template.OSDisk.DiffDiskSettings != nil {
		// https://learn.microsoft.com/en-us/azure/virtual-machines/ephemeral-os-disks
		power.ReportImpossible(fmt.Sprintf("Azure cannot deallocate VMs whose OS disks are ephemeral. They keep running. To delete them instead, set the annotation %s to %s",
			infrav1.StopAnnotation, stopping.ScaleToZero))
		return nil
	}
	wanted, progress := "running", "started"
	if power.Stop {
		wanted, progress = "deallocated", "deallocated"
	}
	var change []pool.Instance
	moving := false
	for _, vm := range in.vms {
		switch {
		case vm.IsDeleting(), vm.PowerState == wanted:
		case vm.IsChanging():
			moving = true
		default:
			change = append(change, vm)
		}
	}
	if power.Stop {
		for _, m := range in.members {
			if m.machine == nil {
				continue
			}
			if err := session.HoldRemediation(ctx, k.Client, m.machine); err != nil {
				return err
			}
		}
	}
	if len(change) == 0 && !moving {
		return k.endPowerChange(ctx, session, in)
	}
	power.Report(false, fmt.Sprintf("%d of %d VMs are not %s yet", max(len(change), 1), len(in.vms), progress))
	for _, action := range powerActions(in, session.Name, power.Stop, change) {
		if sent := session.RunAction(ctx, action); sent.Err != nil {
			in.requests.failure = sent.Err
			power.Report(false, fmt.Sprintf("Azure does not %s VMs: %v", action.SubPath, sent.Err))
		}
	}
	in.moving = true
	return nil
}

// endPowerChange releases the Machines of a started pool whose Nodes are Ready.
func (k *Kind) endPowerChange(ctx context.Context, session reconcile.Session, in *input) error {
	power := session.Power
	if power.Stop {
		power.Report(true, fmt.Sprintf("The %d VMs of the pool are deallocated", len(in.vms)))
		return nil
	}
	waiting := 0
	for _, m := range in.members {
		if m.machine == nil {
			continue
		}
		released, err := session.ReleaseRemediation(ctx, k.Client, m.machine)
		if err != nil {
			return err
		}
		if !released {
			waiting++
		}
	}
	power.Report(waiting == 0, fmt.Sprintf("The VMs of the pool run, and %d Nodes are not Ready yet", waiting))
	return nil
}

// reportPower shows that VMs are not available because annotations ask for it.
func (in *input) reportPower() {
	if !in.power.IsRequested() || in.leavesWithoutVMs() || !slices.ContainsFunc(in.vms, pool.Instance.IsStopped) {
		return
	}
	conditions.Set(in.azurePool, metav1.Condition{Type: infrav1.ScaleSetRunningCondition, Status: metav1.ConditionFalse,
		Reason: in.power.Reason(), Message: in.power.Describe()})
}

// powerActions returns the requests that deallocate or start VMs: one for all instances of a uniform scale set, one for each VM of a flexible
// one, whose VMs are resources of their own.
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/deallocate
func powerActions(in *input, object string, stop bool, vms []pool.Instance) []engine.Action {
	subPath := "start"
	if stop {
		subPath = "deallocate"
	}
	var numbers []string
	var out []engine.Action
	for _, vm := range vms {
		if isFlexible(in) {
			out = append(out, engine.Action{Object: object, Method: "POST", ID: vm.ID, SubPath: subPath})
			continue
		}
		numbers = append(numbers, vm.InstanceID)
	}
	if len(numbers) > 0 {
		out = append(out, engine.Action{Object: object, Method: "POST", ID: pool.ScaleSetID(in.planned), SubPath: subPath,
			Part: strings.Join(numbers, ","), Body: map[string]any{"instanceIds": numbers}})
	}
	return out
}
