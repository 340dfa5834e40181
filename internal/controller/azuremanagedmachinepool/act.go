package azuremanagedmachinepool

import (
	"context"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Act implements reconcile.Kind. It finds the reason of a refused pool, reads the VMs of a finished one that runs, and has the MachinePool
// follow AKS's autoscaler.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	in.refusedSizes = aks.CheckVMSizes(ctx, k.Facts, session.Asker(), result, in.controlPlane.Spec.Location, plan.ListVMSizes(in.pool))
	in.power = session.Power
	power.ReportPool(in.power, result, in.planned.Facts.Cluster)
	if len(in.refusedSizes) > 0 || !outcome.IsDone() || in.power.Stop {
		in.acted = true
		return nil
	}
	group := arm.ResourceGroupID(in.planned.SubscriptionID, plan.NodeResourceGroupName(in.planned))
	if in.instances, err = aks.ReadInstances(ctx, k.Facts, session.Asker(), session.Now(), group, plan.PoolName(in.pool), result.Observed); err != nil {
		return reconcile.ReadFailedFor(infrav1.ScaleSetReadyCondition, err)
	}
	if in.machinePool, err = aks.FollowAutoscaler(ctx, k.Client, in.machinePool, plan.ReplicasManagedByAKS, in.instances); err != nil {
		return err
	}
	in.acted = true
	return nil
}
