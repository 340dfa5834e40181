package azurecluster

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// delete takes everything that is the cluster's out of Azure once its machines are gone, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.azureCluster, infrav1.ClusterFinalizer) {
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	in.azureCluster.Status.Ready = false
	if deletion.NothingLeft(in.azureCluster) {
		return r.letGo(ctx, in)
	}
	machines, err := r.machines(ctx, in)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(machines) > 0 {
		// Their deletion wakes it.
		first := deletion.First{Kind: "AzureMachine", Owner: "Machine", Objects: machines, Cluster: in.cluster, ClusterGone: in.clusterGone}
		deletion.Say(in.azureCluster, first.Condition(infrav1.WaitingForMachinesReason), infrav1.NetworkInfrastructureReadyCondition)
		return ctrl.Result{}, nil
	}
	if err := r.open(ctx, in); err != nil {
		if identity.CodeOf(err) != "" && cluster.Untouched(in.azureCluster) {
			// Nobody could ever ask Azure for anything, so there is nothing to wait for an identity for.
			return r.letGo(ctx, in)
		}
		return r.reportStuck(in, err), nil
	}
	return r.deleteInAzure(ctx, in)
}

func (r *Reconciler) deleteInAzure(ctx context.Context, in *input) (ctrl.Result, error) {
	planned := r.planInput(in, in.access.SubscriptionID)
	graph, err := cluster.DeletePlan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, planned, graph)
	request.WholeGroups = true
	outcome, err := r.Engine.Delete(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	in.story.Saw(outcome)
	inventory.Set(in.azureCluster, outcome.Inventory)
	reportGroups(in, outcome)
	if outcome.Deleted() {
		return r.letGo(ctx, in)
	}
	r.held(in).Explain(in.azureCluster, outcome, infrav1.NetworkInfrastructureReadyCondition)
	return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
}

// letGo releases the identity and then the object.
func (r *Reconciler) letGo(ctx context.Context, in *input) (ctrl.Result, error) {
	return ctrl.Result{}, deletion.End(ctx, in.changes, in.azureCluster, func() error {
		return r.Access.Release(ctx, infrav1.ClusterFinalizer, in.key)
	}, infrav1.ClusterFinalizer)
}

// reportStuck says why Azure could not be asked about the deletion, with the ways out.
func (r *Reconciler) reportStuck(in *input, err error) ctrl.Result {
	in.story.Failed(err)
	condition, after := report.Problem(infrav1.ReadyCondition, err)
	r.held(in).Stuck(in.azureCluster, condition, err, infrav1.NetworkInfrastructureReadyCondition)
	return ctrl.Result{RequeueAfter: after}
}

// held is what a person has to know who wants the object to go.
func (r *Reconciler) held(in *input) deletion.Held {
	spec := in.azureCluster.Spec
	planned := r.planInput(in, r.Access.Subscription(spec.SubscriptionID))
	key, value := plan.OwnerTag(planned)
	return deletion.Held{
		Object: in.azureCluster, Kind: "AzureCluster", Finalizers: []string{infrav1.ClusterFinalizer},
		Identity: deletion.Identity(spec.IdentityRef, in.key.Namespace), User: "AzureCluster " + in.key.Name,
		Azure: fmt.Sprintf("resource group %s and what else carries the tag %s: %s", plan.ResourceGroupID(planned), key, value),
	}
}
