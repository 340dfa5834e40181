package azuremanagedmachinepool

import (
	"context"
	"fmt"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.pool = aks.NewPool(in.azurePool, in.machinePool)
	in.pool.PowerState = power.PoolState(session.Power)
	in.planned, err = aks.LoadPlanInput(ctx, k.Client, in.cluster, in.controlPlane, session.Access.SubscriptionID)
	return err
}

// FingerprintInputs implements reconcile.Input. Of the control plane it includes the part that pools depend on; its status shows
// upgrades by AKS, stops and starts.
func (in *input) FingerprintInputs() []any {
	return []any{
		in.controlPlane.Spec, in.controlPlane.Status.AutoUpgradeVersion, in.controlPlane.Status.Version, aks.StoppedStatus(in.controlPlane),
		in.machinePool.Spec, in.machinePool.Annotations, in.azurePool.Spec, aks.SecretValues(in.planned),
	}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.readFacts(ctx, session.Caller(), in); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	errs := append(plan.CheckPool(in.planned, in.pool), power.CheckPool(session.Power, in.pool.AzurePool.Spec.Mode == infrav1.NodePoolModeSystem)...)
	if len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	graph, err := plan.BuildPoolPlan(in.planned, in.pool)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, LastApplied: plan.PoolLastApplied(in.planned, in.pool)}, nil
}

// readFacts reads the facts of the plan.
func (k *Kind) readFacts(ctx context.Context, caller facts.Caller, in *input) (err error) {
	if in.planned.Facts.Cluster, err = k.Facts.ReadResource(ctx, caller, plan.ClusterID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.AgentPool, err = k.Facts.ReadResource(ctx, caller, plan.PoolID(in.planned, in.pool))
	return err
}
