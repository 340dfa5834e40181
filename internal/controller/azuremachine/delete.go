package azuremachine

import (
	"context"
	"fmt"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// delete takes the machine's resources out of Azure, and then lets the object go. Without an AzureCluster nobody can ask
// Azure: that goes after its machines unless somebody took its finalizer off.
func (r *Reconciler) delete(ctx context.Context, in *input) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(in.azureMachine, infrav1.MachineFinalizer) {
		return ctrl.Result{}, nil
	}
	r.settled.Forget(in.key)
	in.azureMachine.Status.Ready = false
	if in.azureCluster == nil {
		if deletion.Moved(in.azureMachine) {
			return ctrl.Result{}, nil
		}
		deletion.Abandon(ctx, r.Recorder, in.azureMachine, "the AzureCluster that says how to ask Azure is gone", r.inAzure(in))
		return r.letGo(in)
	}
	if err := r.open(ctx, in); err != nil {
		if identity.CodeOf(err) != "" && in.untouched() {
			return r.letGo(in)
		}
		return r.reportStuck(in, err), nil
	}
	return r.deleteInAzure(ctx, in)
}

// deleteInAzure deletes one by one, unless the whole cluster goes and its resource group with it: the group's deletion takes
// everything, and asking for each resource would only be slower.
func (r *Reconciler) deleteInAzure(ctx context.Context, in *input) (ctrl.Result, error) {
	planned := r.planInput(in, in.access.SubscriptionID)
	var err error
	if planned.MachineFacts, err = r.Facts.DeletingMachine(ctx, in.access.Client, planned); err != nil {
		return r.reportStuck(in, err), nil
	}
	graph, err := machine.DeletePlan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan deletion: %w", err)
	}
	request := r.request(in, planned, graph)
	// Azure makes the disks, and may leave them without tags.
	request.Inventory = append(request.Inventory, machine.Disks(planned)...)

	goesWithGroup := false
	group := plan.ResourceGroupID(planned.ClusterInput)
	if !in.clusterGone && !in.cluster.DeletionTimestamp.IsZero() && machine.GoesWithGroup(planned, graph) {
		goesWithGroup, err = r.Engine.DeletableWhole(ctx, request, group)
		if err != nil {
			return r.reportStuck(in, err), nil
		}
	}
	if !goesWithGroup {
		outcome, err := r.Engine.Delete(ctx, request)
		if err != nil {
			return ctrl.Result{}, fmt.Errorf("delete: %w", err)
		}
		in.story.Saw(outcome)
		reportDeleting(in, outcome)
		if !outcome.Deleted() {
			r.held(in).Explain(in.azureMachine, outcome)
			return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
		}
	}
	r.Facts.ReleaseMachine(planned)
	return r.letGo(in)
}

func (r *Reconciler) letGo(in *input) (ctrl.Result, error) {
	controllerutil.RemoveFinalizer(in.azureMachine, infrav1.MachineFinalizer)
	return ctrl.Result{}, nil
}

// untouched tells whether nothing of the machine can be in Azure: machines are made in a network that is there.
func (in *input) untouched() bool {
	return in.azureMachine.Spec.ProviderID == nil && in.azureMachine.Annotations[infrav1.LastAppliedVMTagsAnnotation] == "" &&
		!infrastructureProvisioned(in.cluster) && cluster.Untouched(in.azureCluster)
}

// reportStuck says why Azure could not be asked about the deletion, with the ways out.
func (r *Reconciler) reportStuck(in *input, err error) ctrl.Result {
	in.story.Failed(err)
	condition, after := report.Problem(infrav1.ReadyCondition, err)
	r.held(in).Stuck(in.azureMachine, condition, err, infrav1.VMRunningCondition)
	return ctrl.Result{RequeueAfter: after}
}

// held is what a person has to know who wants the object to go.
func (r *Reconciler) held(in *input) deletion.Held {
	return deletion.Held{
		Object: in.azureMachine, Kind: "AzureMachine", Finalizers: []string{infrav1.MachineFinalizer},
		Identity: deletion.Identity(in.azureCluster.Spec.IdentityRef, in.azureCluster.Namespace), User: "AzureCluster " + in.azureCluster.Name,
		Azure: r.inAzure(in),
	}
}

// inAzure names what of the machine may be in Azure: by its provider ID, and by the names that go with it.
func (r *Reconciler) inAzure(in *input) string {
	if in.azureCluster == nil {
		azureMachine := in.azureMachine
		if providerID := azureMachine.Spec.ProviderID; providerID != nil {
			return strings.TrimPrefix(*providerID, "azure://") + ", its network interfaces and its disks"
		}
		return "a VM " + azureMachine.Name + ", its network interfaces and its disks"
	}
	planned := r.planInput(in, r.Access.Subscription(in.azureCluster.Spec.SubscriptionID))
	graph, err := machine.DeletePlan(planned)
	if err != nil {
		return string(plan.VMID(planned))
	}
	var ids []string
	for _, node := range graph.Nodes() {
		if !node.ID.Equal(plan.VMID(planned)) {
			ids = append(ids, node.ID.Short())
		}
	}
	return string(plan.VMID(planned)) + " and, where they are there, " + deletion.Names(ids)
}
