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

// Act implements reconcile.Kind. It finds the reason of a refused pool, reads the VMs of one that exists and runs, and has the
// MachinePool follow AKS's autoscaler.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	in.refusedSizes = aks.CheckVMSizes(ctx, k.Facts, session.Caller(), result, in.controlPlane.Spec.Location, plan.ListVMSizes(in.pool))
	in.power = session.Power
	power.ReportPool(in.power, result, in.planned.Facts.Cluster)
	if len(in.refusedSizes) > 0 || in.power.Stop {
		in.acted = true
		return nil
	}
	reader := aks.InstanceReader{Facts: k.Facts, Caller: session.Caller(), Now: session.Now(), NodeGroup: func(context.Context) (arm.ID, error) {
		return arm.ResourceGroupID(in.planned.SubscriptionID, plan.NodeResourceGroupName(in.planned)), nil
	}}
	if in.instances, err = reader.Read(ctx, result); err != nil {
		return reconcile.ReadFailedFor(infrav1.ScaleSetReadyCondition, err)
	}
	if in.machinePool, err = aks.FollowAutoscaler(ctx, k.Client, in.machinePool, plan.ReplicasManagedByAKS,
		in.azurePool.Spec.Scaling != nil, in.instances); err != nil {
		return err
	}
	in.acted = true
	return nil
}
