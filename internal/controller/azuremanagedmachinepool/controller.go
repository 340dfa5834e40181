// Package azuremanagedmachinepool reconciles AzureManagedMachinePool: one agent pool of an AKS cluster, and the providerIDs
// of its virtual machines, by which Cluster API knows its nodes.
//
// A pass loads the objects, asks Azure for the facts that the plan depends on, plans, lets the engine converge, and
// patches the status. It never waits for Azure: the engine wakes the object when something moved. While AKS's autoscaler
// runs, the number of nodes is Azure's to say, and the MachinePool follows it.
package azuremanagedmachinepool

import (
	"context"
	"time"

	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/wake"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machinepools,verbs=get;list;watch;update;patch

// Reconciler reconciles AzureManagedMachinePools.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Engine   *engine.Engine
	Access   *access.Gate
	Facts    *facts.Facts
	// Resync is how long a pool found in order is left alone.
	Resync time.Duration
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string

	teller  *story.Teller
	wake    wake.Source
	settled *settled.Memory
	written patch.Written
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	r.settled = settled.New(r.Resync, time.Now)
	r.teller = story.New(r.Recorder)
	log := ctrl.LoggerFrom(ctx)
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.AzureManagedMachinePool{}, builder.WithPredicates(watch.Own())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(poolOfMachinePool), builder.WithPredicates(watch.Spec())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.poolsOfCluster), builder.WithPredicates(watch.Spec())).
		Watches(&infrav1.AzureManagedControlPlane{}, handler.EnqueueRequestsFromMapFunc(r.poolsOfControlPlane),
			builder.WithPredicates(watch.Reads(readOfControlPlane))).
		WatchesRawSource(r.wake.Source()).
		Complete(r)
}

// Reconcile does one pass for one AzureManagedMachinePool.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	in, err := r.load(ctx, request)
	if err != nil || in == nil {
		return ctrl.Result{}, err
	}
	in.changes, result, err = lifecycle.Enter(ctx, r.Client, &r.written, in.cluster, in.azurePool, infrav1.ManagedMachinePoolFinalizer)
	if err != nil || in.changes == nil {
		return result, err
	}
	defer in.changes.End(ctx, &result, &err)
	in.story = r.teller.Begin(ctx, in.azurePool)
	defer in.story.End()
	if !in.azurePool.DeletionTimestamp.IsZero() {
		return r.delete(ctx, in)
	}
	if !in.initialized() {
		reportWaiting(in, infrav1.WaitingForControlPlaneReason, "the AKS cluster is not in place yet, see AzureManagedControlPlane "+in.controlPlane.Name)
		return ctrl.Result{}, nil
	}
	if in.access, err = managed.Open(ctx, r.Access, in.controlPlane); err != nil {
		return reportProblem(in, err), nil
	}
	return r.converge(ctx, in)
}

// readOfControlPlane is what passes over pools read of the status of their control plane.
func readOfControlPlane(controlPlane *infrav1.AzureManagedControlPlane) any {
	status := controlPlane.Status
	return []any{status.Initialization, status.Version, status.AutoUpgradeVersion}
}

// poolOfMachinePool wakes the pool that a MachinePool refers to.
func poolOfMachinePool(_ context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.MachinePool).Spec.Template.Spec.InfrastructureRef
	if ref.APIGroup != infrav1.GroupVersion.Group || ref.Kind != managed.MachinePoolKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}}}
}

// poolsOfCluster wakes the pools of a Cluster.
func (r *Reconciler) poolsOfCluster(ctx context.Context, obj client.Object) []ctrl.Request {
	if obj.(*clusterv1.Cluster).Spec.ControlPlaneRef.Kind != managed.ControlPlaneKind {
		return nil
	}
	list := &clusterv1.MachinePoolList{}
	if err := r.Client.List(ctx, list, client.InNamespace(obj.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list MachinePools", "cluster", obj.GetName())
		return nil
	}
	var out []ctrl.Request
	for i := range list.Items {
		if list.Items[i].Spec.ClusterName == obj.GetName() {
			out = append(out, poolOfMachinePool(ctx, &list.Items[i])...)
		}
	}
	return out
}

// poolsOfControlPlane wakes the pools of a control plane that changed.
func (r *Reconciler) poolsOfControlPlane(ctx context.Context, obj client.Object) []ctrl.Request {
	cluster, err := managed.ClusterOf(ctx, r.Client, obj, managed.ControlPlaneKind)
	if err != nil || cluster == nil {
		return nil
	}
	return r.poolsOfCluster(ctx, cluster)
}
