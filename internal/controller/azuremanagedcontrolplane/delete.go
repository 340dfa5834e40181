package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// legacyFinalizer is what old releases of the established provider put on control planes; it is removed where it is found.
const legacyFinalizer = infrav1.ClusterFinalizer

// delete takes everything that is the cluster's out of Azure once its pools are gone, and then lets the object go.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.controlPlane, infrav1.ManagedControlPlaneFinalizer) {
		controllerutil.RemoveFinalizer(in.controlPlane, legacyFinalizer)
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	in.controlPlane.Status.Ready = false
	if deletion.NothingLeft(in.controlPlane) {
		return r.letGo(ctx, in)
	}
	pools, err := managed.Pools(ctx, r.Client, in.cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(pools) > 0 {
		// Their deletion wakes it.
		first := deletion.First{Kind: managed.MachinePoolKind, Owner: "MachinePool", Cluster: in.cluster, ClusterGone: in.clusterGone}
		for _, pool := range pools {
			first.Objects = append(first.Objects, pool.AzurePool)
		}
		deletion.Say(in.controlPlane, first.Condition(infrav1.WaitingForMachinePoolsReason), infrav1.ManagedClusterRunningCondition)
		return ctrl.Result{}, nil
	}
	if err := r.open(ctx, in); err != nil {
		if identity.CodeOf(err) != "" && plan.Untouched(in.controlPlane) {
			// Nobody could ever ask Azure for anything, so there is nothing to wait for an identity for.
			return r.letGo(ctx, in)
		}
		return r.reportStuck(in, err), nil
	}
	return r.deleteInAzure(ctx, in)
}

func (r *Reconciler) deleteInAzure(ctx context.Context, in *input) (ctrl.Result, error) {
	var err error
	if in.planned, err = managed.Input(ctx, r.Client, in.cluster, in.controlPlane, in.access.SubscriptionID); err != nil {
		return ctrl.Result{}, err
	}
	graph, err := plan.DeletePlan(in.planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, graph)
	request.WholeGroups = true
	request.Prune = plan.Prune(in.planned, graph)
	outcome, err := r.Engine.Delete(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("delete: %w", err)
	}
	in.story.Saw(outcome)
	inventory.Set(in.controlPlane, outcome.Inventory)
	deletion.Forget(in.controlPlane, append(slices.Clone(groups), infrav1.ReadyCondition)...)
	reportGroups(in, outcome)
	reportSummary(in)
	if outcome.Deleted() {
		return r.letGo(ctx, in)
	}
	r.held(in).Explain(in.controlPlane, outcome)
	return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
}

// letGo releases the identity and then the object.
func (r *Reconciler) letGo(ctx context.Context, in *input) (ctrl.Result, error) {
	return ctrl.Result{}, deletion.End(ctx, in.changes, in.controlPlane, func() error {
		return r.Access.Release(ctx, infrav1.ManagedControlPlaneFinalizer, in.key)
	}, infrav1.ManagedControlPlaneFinalizer, legacyFinalizer)
}

// reportStuck says why Azure could not be asked about the deletion, with the ways out.
func (r *Reconciler) reportStuck(in *input, err error) ctrl.Result {
	in.story.Failed(err)
	condition, after := report.Problem(infrav1.ReadyCondition, err)
	r.held(in).Stuck(in.controlPlane, condition, err, infrav1.ManagedClusterRunningCondition)
	return ctrl.Result{RequeueAfter: after}
}

// held is what a person has to know who wants the object to go.
func (r *Reconciler) held(in *input) deletion.Held {
	spec := in.controlPlane.Spec
	planned := plan.Input{Cluster: in.cluster, ControlPlane: in.controlPlane, SubscriptionID: r.Access.Subscription(spec.SubscriptionID)}
	key, value := plan.OwnerTag(planned)
	return deletion.Held{
		Object: in.controlPlane, Kind: managed.ControlPlaneKind, Finalizers: []string{infrav1.ManagedControlPlaneFinalizer, legacyFinalizer},
		Identity: deletion.Identity(spec.IdentityRef, in.key.Namespace), User: managed.ControlPlaneKind + " " + in.key.Name,
		Azure: fmt.Sprintf("the AKS cluster %s and what else carries the tag %s: %s", plan.ClusterID(planned), key, value),
	}
}
