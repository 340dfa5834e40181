package azuremanagedmachinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	neutral "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

const (
	// autoscaledResync is how often an autoscaled pool is checked, because AKS sends no notice of its changes.
	autoscaledResync = time.Minute
	// managedByAKS is the value of the annotation replicas-managed-by while AKS's autoscaler runs.
	managedByAKS = "true"
)

// LoadPlanInput implements reconcile.Kind.
func (k *Kind) LoadPlanInput(ctx context.Context, session reconcile.Session, in *input) (err error) {
	in.pool = aks.NewPool(in.azurePool, in.machinePool)
	in.planned, err = aks.LoadPlanInput(ctx, k.Client, in.cluster, in.controlPlane, session.Access.SubscriptionID)
	return err
}

// FingerprintInputs implements reconcile.Kind. Of the control plane it includes the part that pools depend on; its status shows
// upgrades by AKS.
func (k *Kind) FingerprintInputs(in *input) []any {
	return []any{
		in.controlPlane.Spec, in.controlPlane.Status.AutoUpgradeVersion, in.controlPlane.Status.Version,
		in.machinePool.Spec, in.machinePool.Annotations, in.azurePool.Spec, aks.SecretValues(in.planned),
	}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, session reconcile.Session, in *input) (*reconcile.Plan, error) {
	if err := k.readFacts(ctx, session.Asker(), in); err != nil {
		return nil, reconcile.ReadFailed(err)
	}
	if errs := plan.CheckPool(in.planned, in.pool); len(errs) > 0 {
		return nil, reconcile.RefuseSpec(errs)
	}
	graph, err := plan.BuildPoolPlan(in.planned, in.pool)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, LastApplied: plan.PoolLastApplied(in.planned, in.pool)}, nil
}

// readFacts reads the facts of the plan.
func (k *Kind) readFacts(ctx context.Context, asker facts.Asker, in *input) (err error) {
	if in.planned.Facts.Cluster, err = k.Facts.ReadResource(ctx, asker, plan.ClusterID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.AgentPool, err = k.Facts.ReadResource(ctx, asker, plan.PoolID(in.planned, in.pool))
	return err
}

// Report implements reconcile.Kind. It shows the VMs of a finished pool.
func (k *Kind) Report(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (time.Duration, error) {
	reportConverged(in, outcome)
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	if errs := aks.CheckVMSizes(ctx, k.Facts, session.Asker(), in.planned, result, in.pool); len(errs) > 0 {
		return 0, reconcile.RefuseSpec(errs)
	}
	if !outcome.IsDone() {
		reconcile.SummarizeReady(in.azurePool, summarizedConditions)
		return 0, nil
	}
	complete, err := k.readInstances(ctx, session.Asker(), in, result.Observed)
	if err != nil {
		return 0, reconcile.ReadFailedFor(infrav1.ScaleSetReadyCondition, err)
	}
	autoscaled := agentpool.Observe(result.Observed).Properties.EnableAutoScaling
	if in.machinePool, err = aks.FollowAutoscaler(ctx, k.Client, in.machinePool, managedByAKS, autoscaled, nodeCount(result.Observed)); err != nil {
		return 0, err
	}
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
	switch {
	case !complete:
		return 0, reconcile.RecheckIn(aks.InstancesRetry(in.azurePool, time.Now()), nil)
	case autoscaled:
		return autoscaledResync, nil
	}
	return 0, nil
}

// readInstances reads the VMs of the pool, and reports whether the pool has all of them.
func (k *Kind) readInstances(ctx context.Context, asker facts.Asker, in *input, observed json.RawMessage) (complete bool, err error) {
	group := arm.ResourceGroupID(in.planned.SubscriptionID, plan.NodeResourceGroupName(in.planned))
	count := nodeCount(observed)
	ids, exists, err := k.Facts.ListPoolInstances(ctx, asker, group, plan.PoolName(in.pool), observed, int(count))
	if err != nil {
		return false, err
	}
	var providerIDs []string
	for _, id := range ids {
		providerIDs = append(providerIDs, neutral.ProviderID(id))
	}
	reportInstances(in, providerIDs, count, exists)
	return len(ids) == int(count), nil
}

// nodeCount is the current or target number of nodes of the pool, as Azure reports it.
func nodeCount(observed json.RawMessage) int32 {
	if count := agentpool.Observe(observed).Properties.Count; count != nil {
		return *count
	}
	return 0
}
