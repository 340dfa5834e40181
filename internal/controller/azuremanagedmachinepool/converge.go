package azuremanagedmachinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	neutral "sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

const (
	// autoscaledResync is how soon an autoscaled pool is looked at again: nobody tells when AKS has changed it.
	autoscaledResync = time.Minute
	// managedByAKS is the value of the annotation replicas-managed-by while AKS's autoscaler runs.
	managedByAKS = "true"
)

// Prepare implements reconcile.Kind.
func (k *Kind) Prepare(ctx context.Context, turn reconcile.Turn, in *input) (err error) {
	in.pool = aks.Pool(in.azurePool, in.machinePool)
	in.planned, err = aks.Input(ctx, k.Client, in.cluster, in.controlPlane, turn.Access.SubscriptionID)
	return err
}

// Inputs implements reconcile.Kind. Of the control plane it is what pools depend on; its status says when the cluster was upgraded
// by AKS.
func (k *Kind) Inputs(in *input) []any {
	return []any{
		in.controlPlane.Spec, in.controlPlane.Status.AutoUpgradeVersion, in.controlPlane.Status.Version,
		in.machinePool.Spec, in.machinePool.Annotations, in.azurePool.Spec, aks.SecretValues(in.planned),
	}
}

// Plan implements reconcile.Kind.
func (k *Kind) Plan(ctx context.Context, turn reconcile.Turn, in *input) (*reconcile.Plan, error) {
	if err := k.ask(ctx, turn.Access.Client, in); err != nil {
		return nil, reconcile.Unread(err)
	}
	if errs := plan.CheckPool(in.planned, in.pool); len(errs) > 0 {
		return nil, reconcile.Refused(errs)
	}
	graph, err := plan.BuildPoolPlan(in.planned, in.pool)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return &reconcile.Plan{Graph: graph, Sent: plan.PoolLastApplied(in.planned, in.pool)}, nil
}

// ask fills in what the plan wants to know of Azure.
func (k *Kind) ask(ctx context.Context, c *armclient.Client, in *input) (err error) {
	if in.planned.Facts.Cluster, err = k.Facts.ReadResource(ctx, c, plan.ClusterID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.AgentPool, err = k.Facts.ReadResource(ctx, c, plan.PoolID(in.planned, in.pool))
	return err
}

// Report implements reconcile.Kind: of a pool that is in place it shows the virtual machines.
func (k *Kind) Report(ctx context.Context, turn reconcile.Turn, in *input, outcome arm.Outcome) (time.Duration, error) {
	reportConverged(in, outcome)
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	if errs := aks.WrongSizes(ctx, k.Facts, turn.Access.Client, in.planned, result, in.pool); len(errs) > 0 {
		return 0, reconcile.Refused(errs)
	}
	if !outcome.IsDone() {
		reconcile.Summarize(in.azurePool, summed)
		return 0, nil
	}
	complete, err := k.instances(ctx, turn.Access.Client, in, result.Observed)
	if err != nil {
		return 0, reconcile.UnreadFor(infrav1.ScaleSetReadyCondition, err)
	}
	autoscaled := plan.ObservePool(result.Observed).Properties.EnableAutoScaling
	if in.machinePool, err = aks.Follow(ctx, k.Client, in.machinePool, managedByAKS, autoscaled, count(result.Observed)); err != nil {
		return 0, err
	}
	reconcile.Summarize(in.azurePool, summed)
	switch {
	case !complete:
		return 0, reconcile.Again(aks.InstancesRetry(in.azurePool, time.Now()), nil)
	case autoscaled:
		return autoscaledResync, nil
	}
	return 0, nil
}

// instances reads the virtual machines of the pool, and tells whether they are as many as the pool says.
func (k *Kind) instances(ctx context.Context, c *armclient.Client, in *input, observed json.RawMessage) (complete bool, err error) {
	group := arm.ResourceGroupID(in.planned.SubscriptionID, plan.NodeResourceGroupName(in.planned))
	count := count(observed)
	ids, exists, err := k.Facts.ListPoolInstances(ctx, c, group, plan.PoolName(in.pool), observed, int(count))
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

// count is the number of nodes that Azure says the pool has or is to have.
func count(observed json.RawMessage) int32 {
	if count := plan.ObservePool(observed).Properties.Count; count != nil {
		return *count
	}
	return 0
}
