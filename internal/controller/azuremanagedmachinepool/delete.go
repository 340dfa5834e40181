package azuremanagedmachinepool

import (
	"context"
	"fmt"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// creatingRetry is how soon the deletion of a pool is tried again whose cluster is being created.
const creatingRetry = 5 * time.Second

// delete deletes the agent pool, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.azurePool, infrav1.ManagedMachinePoolFinalizer) {
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	in.azurePool.Status.Ready = false
	if in.controlPlane == nil && in.clusterGone {
		deletion.Abandon(ctx, r.Recorder, in.azurePool, "the AzureManagedControlPlane that says how to ask Azure is gone", inAzure(in))
	}
	if goes, err := r.goesWithCluster(ctx, in); err != nil || goes {
		return r.letGo(in, err)
	}
	var err error
	if in.access, err = managed.Open(ctx, r.Access, in.controlPlane); err != nil {
		return r.reportStuck(in, err), nil
	}
	return r.deleteInAzure(ctx, in)
}

// goesWithCluster tells whether the pool needs no deletion of its own: AKS deletes the pools with their cluster, and would
// refuse to delete the last system pool before. There is none of a cluster that was never begun. A control plane that is
// being deleted by itself waits for its pools, so the cluster goes only once all of them are to go.
func (r *Reconciler) goesWithCluster(ctx context.Context, in *input) (bool, error) {
	if in.controlPlane == nil || plan.Untouched(in.controlPlane) || !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() {
		return true, nil
	}
	if in.controlPlane.DeletionTimestamp.IsZero() {
		return false, nil
	}
	pools, err := managed.Pools(ctx, r.Client, in.cluster)
	return !slices.ContainsFunc(pools, func(pool plan.Pool) bool { return pool.AzurePool.DeletionTimestamp.IsZero() }), err
}

// letGo lets the object go unless err is not nil.
func (r *Reconciler) letGo(in *input, err error) (ctrl.Result, error) {
	if err == nil {
		controllerutil.RemoveFinalizer(in.azurePool, infrav1.ManagedMachinePoolFinalizer)
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) deleteInAzure(ctx context.Context, in *input) (ctrl.Result, error) {
	if err := r.prepare(ctx, in); err != nil {
		return ctrl.Result{}, err
	}
	deletion.Forget(in.azurePool, infrav1.ReadyCondition, infrav1.AgentPoolsReadyCondition)
	if r.Engine.Creating(plan.ClusterID(in.planned)) {
		// The cluster may be made with the pool, which Azure does not show before it has taken that.
		reportWaiting(in, infrav1.WaitingForControlPlaneReason, "the AKS cluster is being created, maybe with the pool; the pool is deleted after that")
		return ctrl.Result{RequeueAfter: creatingRetry}, nil
	}
	graph, err := plan.PoolDeletePlan(in.planned, in.pool)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	outcome, err := r.Engine.Delete(ctx, r.request(in, graph))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	in.story.Saw(outcome)
	inventory.Set(in.azurePool, outcome.Inventory)
	reportConverged(in, outcome, plan.Extras{})
	reportSummary(in)
	if outcome.Deleted() {
		return r.letGo(in, nil)
	}
	held(in).Explain(in.azurePool, outcome)
	return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
}

// reportStuck says why Azure could not be asked about the deletion, with the ways out.
func (r *Reconciler) reportStuck(in *input, err error) ctrl.Result {
	in.story.Failed(err)
	condition, after := report.Problem(infrav1.ReadyCondition, err)
	held(in).Stuck(in.azurePool, condition, err, infrav1.AgentPoolsReadyCondition)
	return ctrl.Result{RequeueAfter: after}
}

// held is what a person has to know who wants the object to go.
func held(in *input) deletion.Held {
	return deletion.Held{
		Object: in.azurePool, Kind: managed.MachinePoolKind, Finalizers: []string{infrav1.ManagedMachinePoolFinalizer},
		Identity: deletion.Identity(in.controlPlane.Spec.IdentityRef, in.controlPlane.Namespace), User: managed.ControlPlaneKind + " " + in.controlPlane.Name,
		Azure: inAzure(in),
	}
}

// inAzure names the agent pool.
func inAzure(in *input) string {
	name := plan.PoolName(managed.Pool(in.azurePool, in.machinePool))
	if in.controlPlane == nil {
		return fmt.Sprintf("the agent pool %s of the AKS cluster of Cluster %s", name, in.cluster.Name)
	}
	spec := in.controlPlane.Spec
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: spec.SubscriptionID}
	return fmt.Sprintf("the agent pool %s of %s", name, plan.ClusterID(planned))
}
