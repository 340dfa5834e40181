// Package azuremachine reconciles AzureMachine: a virtual machine with its network interfaces, disks and rules.
//
// A pass loads the objects, asks Azure for the facts that the plan depends on, plans, lets the engine converge, and
// patches the status. It never waits for Azure: the engine wakes the object when something moved. A machine is made once:
// a VM that is gone is reported so that MachineHealthCheck can act, and never made again under the same object.
package azuremachine

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/wake"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachines/finalizers,verbs=update
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=machines;machines/status,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// Reconciler reconciles AzureMachines.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Engine   *engine.Engine
	Access   *access.Gate
	Facts    *facts.Facts
	Features plan.Features
	// Resync is how long a machine found in order is left alone.
	Resync time.Duration
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string

	teller    *story.Teller
	wake      wake.Source
	settled   *settled.Memory
	written   patch.Written
	passwords passwords
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	r.settled = settled.New(r.Resync, time.Now)
	r.teller = story.New(r.Recorder)
	r.passwords = newPasswords()
	log := ctrl.LoggerFrom(ctx)
	machinesOfCluster, err := util.ClusterToTypedObjectsMapper(mgr.GetClient(), &infrav1.AzureMachineList{}, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("map Clusters to AzureMachines: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.AzureMachine{}, builder.WithPredicates(watch.Own())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		Watches(&clusterv1.Machine{},
			handler.EnqueueRequestsFromMapFunc(util.MachineToInfrastructureMapFunc(infrav1.GroupVersion.WithKind("AzureMachine"))),
			builder.WithPredicates(watch.Spec())).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(machinesOfCluster),
			builder.WithPredicates(predicates.ClusterPausedTransitionsOrInfrastructureProvisioned(mgr.GetScheme(), log))).
		Watches(&infrav1.AzureCluster{}, handler.EnqueueRequestsFromMapFunc(r.machinesOfAzureCluster),
			builder.WithPredicates(watch.Reads(func(c *infrav1.AzureCluster) any { return c.Status.FailureDomains }))).
		WatchesRawSource(r.wake.Source()).
		Complete(r)
}

// machinesOfAzureCluster wakes the AzureMachines of a cluster whose network changed.
func (r *Reconciler) machinesOfAzureCluster(ctx context.Context, obj client.Object) []ctrl.Request {
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil
	}
	list := &infrav1.AzureMachineList{}
	if err := r.Client.List(ctx, list, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list AzureMachines", "cluster", name)
		return nil
	}
	var out []ctrl.Request
	for _, item := range list.Items {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
	}
	return out
}

// Reconcile does one pass for one AzureMachine.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	in, err := r.load(ctx, request)
	if err != nil || in == nil {
		return ctrl.Result{}, err
	}
	in.changes, result, err = lifecycle.Enter(ctx, r.Client, &r.written, in.cluster, in.azureMachine, infrav1.MachineFinalizer)
	if err != nil || in.changes == nil {
		return result, err
	}
	defer in.changes.End(ctx, &result, &err)
	in.story = r.teller.Begin(ctx, in.azureMachine)
	defer in.story.End()
	if !in.azureMachine.DeletionTimestamp.IsZero() {
		return r.delete(ctx, in)
	}
	if !infrastructureProvisioned(in.cluster) {
		reportWaiting(in, infrav1.WaitingForClusterInfrastructureReason, "the network of the cluster is not in place yet, see AzureCluster "+in.azureCluster.Name)
		return ctrl.Result{}, nil
	}
	if err := r.open(ctx, in); err != nil {
		return reportProblem(in, err), nil
	}
	return r.converge(ctx, in)
}
