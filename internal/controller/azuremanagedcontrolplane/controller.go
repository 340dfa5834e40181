// Package azuremanagedcontrolplane reconciles AzureManagedControlPlane: an AKS cluster with its resource group, network,
// private endpoints, fleet membership and extensions, and the kubeconfigs that lead to it.
//
// A pass loads the objects, asks Azure for the facts that the plan depends on, plans, lets the engine converge, and
// patches the status. It never waits for Azure: the engine wakes the object when something moved.
package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
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

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedcontrolplanes/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremanagedmachinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters;machinepools,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets;configmaps,verbs=get;list;watch;create;update;patch

// Reconciler reconciles AzureManagedControlPlanes.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Engine   *engine.Engine
	Access   *access.Gate
	Facts    *facts.Facts
	// Workload gives access to the ConfigMaps of an AKS cluster by a kubeconfig.
	Workload func(kubeconfig []byte) (corev1client.ConfigMapsGetter, error)
	// ResourceHealth turns the condition AzureResourceAvailable on.
	ResourceHealth bool
	// Resync is how long a cluster found in order is left alone.
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
		For(&infrav1.AzureManagedControlPlane{}, builder.WithPredicates(watch.Own())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		WithEventFilter(predicates.ResourceIsNotExternallyManaged(mgr.GetScheme(), log)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(controlPlaneOfCluster), builder.WithPredicates(watch.Spec())).
		Watches(&clusterv1.MachinePool{}, handler.EnqueueRequestsFromMapFunc(r.controlPlaneOfMachinePool), builder.WithPredicates(watch.Spec())).
		Watches(&infrav1.AzureManagedMachinePool{}, handler.EnqueueRequestsFromMapFunc(r.controlPlaneOfPool), builder.WithPredicates(watch.Spec())).
		Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(r.users().OfIdentity), builder.WithPredicates(watch.Identity())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.users().OfSecret), builder.OnlyMetadata).
		WatchesRawSource(r.wake.Source()).
		Complete(r)
}

// Reconcile does one pass for one AzureManagedControlPlane.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	in, err := r.load(ctx, request)
	if err != nil || in == nil {
		return ctrl.Result{}, err
	}
	in.changes, result, err = lifecycle.Enter(ctx, r.Client, &r.written, in.cluster, in.controlPlane, infrav1.ManagedControlPlaneFinalizer)
	if err != nil || in.changes == nil {
		return result, err
	}
	defer in.changes.End(ctx, &result, &err)
	in.story = r.teller.Begin(ctx, in.controlPlane)
	defer in.story.End()
	if !r.ResourceHealth {
		conditions.Delete(in.controlPlane, infrav1.AzureResourceAvailableCondition)
	}
	if !in.controlPlane.DeletionTimestamp.IsZero() {
		return r.delete(ctx, in)
	}
	if err := r.open(ctx, in); err != nil {
		return reportProblem(in, err), nil
	}
	if err := r.Access.Hold(ctx, in.access, infrav1.ManagedControlPlaneFinalizer, in.controlPlane); err != nil {
		return ctrl.Result{}, fmt.Errorf("hold the identity: %w", err)
	}
	return r.converge(ctx, in)
}

// controlPlaneOfCluster wakes the control plane of a Cluster, whose CIDR blocks and pause are its input.
func controlPlaneOfCluster(_ context.Context, obj client.Object) []ctrl.Request {
	ref := obj.(*clusterv1.Cluster).Spec.ControlPlaneRef
	if ref.Kind != managed.ControlPlaneKind {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}}}
}

// controlPlaneOfMachinePool wakes the control plane of a MachinePool.
func (r *Reconciler) controlPlaneOfMachinePool(ctx context.Context, obj client.Object) []ctrl.Request {
	return r.controlPlaneNamed(ctx, obj.GetNamespace(), obj.(*clusterv1.MachinePool).Spec.ClusterName)
}

// controlPlaneOfPool wakes the control plane of an AzureManagedMachinePool that Cluster API has labelled. The first pools
// are a part of the cluster's creation, and an operation on a pool holds up those of the cluster.
func (r *Reconciler) controlPlaneOfPool(ctx context.Context, obj client.Object) []ctrl.Request {
	return r.controlPlaneNamed(ctx, obj.GetNamespace(), obj.GetLabels()[clusterv1.ClusterNameLabel])
}

func (r *Reconciler) controlPlaneNamed(ctx context.Context, namespace, name string) []ctrl.Request {
	if name == "" {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if r.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, cluster) == nil {
		return controlPlaneOfCluster(ctx, cluster)
	}
	// One that outlived its Cluster may wait for its pools to be gone.
	controlPlane, err := managed.ControlPlaneNamed(ctx, r.Client, namespace, name)
	if err != nil || controlPlane == nil {
		return nil
	}
	return []ctrl.Request{{NamespacedName: client.ObjectKeyFromObject(controlPlane)}}
}
