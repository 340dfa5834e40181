package azuremachinepool

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Act implements reconcile.Kind. It keeps the objects of the VMs, carries out the decisions about single VMs, and copies the capacity
// that an autoscaler has chosen to the MachinePool.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) error {
	result := in.scaleSetResult(outcome)
	if !in.hasScaleSet(result) {
		return nil
	}
	in.lastDeletionFailure = k.requests.poolState(session.Name).lastDeletionFailure
	if err := k.reconcileMachines(ctx, session, in); err != nil {
		return err
	}
	// A deletion lowers the capacity of the scale set, so it must not overlap with a write of the former capacity.
	in.requests = k.sendRequests(ctx, session, in, result.SentMethod == "")
	if err := k.changePower(ctx, session, in); err != nil {
		return err
	}
	if err := k.followAutoscaler(ctx, in); err != nil {
		return err
	}
	in.acted = true
	return nil
}

// scaleSetResult returns the result of the scale set.
func (in *input) scaleSetResult(outcome arm.Outcome) arm.Result {
	result, _ := outcome.Result(pool.ScaleSetID(in.planned))
	return result
}

// hasScaleSet reports whether the pool's own scale set exists.
func (in *input) hasScaleSet(result arm.Result) bool { return in.scaleSet.Exists && result.Owned }

// followAutoscaler copies the capacity that an autoscaler has chosen to the MachinePool.
func (k *Kind) followAutoscaler(ctx context.Context, in *input) error {
	if !in.isScaledElsewhere() || pool.WantedReplicas(in.planned) == in.scaleSet.Capacity {
		return nil
	}
	changed := in.machinePool.DeepCopy()
	changed.Spec.Replicas = new(int32(in.scaleSet.Capacity))
	if err := k.Client.Patch(ctx, changed, client.MergeFrom(in.machinePool)); err != nil {
		return fmt.Errorf("patch MachinePool %s: %w", in.machinePool.Name, err)
	}
	in.machinePool = changed
	return nil
}
