// Package azuremachinetemplate reconciles AzureMachineTemplates: it writes the properties of a node of the template into the status.
// With these the cluster autoscaler scales up groups of machines that have no node yet.
//
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine
package azuremachinetemplate

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates/status,verbs=patch

// Reconciler reconciles AzureMachineTemplates.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Access   *access.Gate
	Facts    *facts.Facts
	// WatchFilter is the required value of the label cluster.x-k8s.io/watch-filter; "" accepts all objects.
	WatchFilter string

	eventLog *eventlog.Recorder
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	r.eventLog = eventlog.NewRecorder(r.Recorder)
	ofCluster := clusterinfra.MapOwnedBy(r.Client, &infrav1.AzureMachineTemplateList{})
	dependents := clusterinfra.Dependents{Client: r.Client, MapCluster: ofCluster}
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.AzureMachineTemplate{}, builder.WithPredicates(watch.OwnChanges())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), ctrl.LoggerFrom(ctx), r.WatchFilter)).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster), builder.WithPredicates(watch.SpecChanges())).
		Watches(&infrav1.AzureCluster{}, handler.EnqueueRequestsFromMapFunc(dependents.MapAzureCluster),
			builder.WithPredicates(watch.GenerationChanges())).
		Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(dependents.MapIdentity),
			builder.WithPredicates(watch.IdentityChanges())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(dependents.MapSecret), builder.OnlyMetadata).
		Complete(r)
}

// Reconcile reconciles one AzureMachineTemplate. The spec of a template is immutable, so a template with a complete status is done.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	template := &infrav1.AzureMachineTemplate{}
	if err := r.Client.Get(ctx, request.NamespacedName, template); err != nil {
		if apierrors.IsNotFound(err) {
			r.eventLog.Forget(template, request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !template.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	changes := patch.TrackChanges(r.Client, nil, template)
	if len(template.Status.Capacity) > 0 && template.Status.NodeInfo != nil {
		return ctrl.Result{}, r.writeStatus(ctx, template, changes)
	}
	in, opened, err := r.loadCluster(ctx, template)
	if err != nil {
		return r.reportFailure(ctx, template, "CatalogUnavailable", err)
	}
	if in == nil {
		return ctrl.Result{}, nil
	}
	spec := template.Spec.Template.Spec
	size, near, err := r.Facts.FindVMSize(ctx, facts.Asker{Client: opened.Client}, *in, spec.VMSize)
	if err != nil {
		return r.reportFailure(ctx, template, "CatalogUnavailable", err)
	}
	if size == nil {
		r.warnOwner(ctx, template, "SKUNotFound",
			fmt.Errorf("spec.template.spec.vmSize: region %s has no VM size %q; near to it are %s", plan.Location(*in), spec.VMSize,
				strings.Join(near, ", ")))
		return ctrl.Result{RequeueAfter: status.RefusalRetryInterval}, nil
	}
	node, err := machine.NodeInfo(size, spec.OSDisk.OSType)
	if err != nil {
		r.warnOwner(ctx, template, "NodeInfoError", err)
		return ctrl.Result{RequeueAfter: status.RefusalRetryInterval}, nil
	}
	r.eventLog.MarkResolved(template, nodeMatter)
	template.Status.Capacity, template.Status.NodeInfo = machine.NodeCapacity(size), &node
	return ctrl.Result{}, r.writeStatus(ctx, template, changes)
}

// writeStatus writes the status. An event shows a failure, because a template has no conditions.
func (r *Reconciler) writeStatus(ctx context.Context, template *infrav1.AzureMachineTemplate, changes *patch.Changes) error {
	err := changes.Finish(ctx)
	if eventlog.IsFailure(ctx, err) {
		metrics.CountFailedStatusWrite("AzureMachineTemplate")
		r.warnOwner(ctx, template, "StatusWriteFailed", err)
	}
	return err
}

// loadCluster reads the cluster of a template and opens its access to Azure. The input is nil if there is nothing to do yet.
func (r *Reconciler) loadCluster(ctx context.Context, template *infrav1.AzureMachineTemplate) (*plan.ClusterInput, *access.Access, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.Client, template.ObjectMeta)
	if err != nil || cluster == nil || cluster.Spec.InfrastructureRef.Kind != "AzureCluster" || annotations.IsPaused(cluster, template) {
		return nil, nil, client.IgnoreNotFound(err)
	}
	azureCluster := &infrav1.AzureCluster{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, key, azureCluster); err != nil {
		return nil, nil, client.IgnoreNotFound(err)
	}
	opened, err := r.Access.Open(ctx, access.RequestForAzureCluster(azureCluster))
	if err != nil {
		return nil, nil, err
	}
	opened.Client = opened.Client.ReadOnly()
	return &plan.ClusterInput{Cluster: cluster, AzureCluster: azureCluster, SubscriptionID: opened.SubscriptionID}, opened, nil
}

// nodeMatter is the matter of events about unknown properties of a node.
const nodeMatter = "node"

// reportFailure emits an event about a catalog that could not be read. The condition for the same cause is on the AzureCluster.
func (r *Reconciler) reportFailure(ctx context.Context, template *infrav1.AzureMachineTemplate, reason string, err error) (ctrl.Result,
	error) {
	if !eventlog.IsFailure(ctx, err) {
		return ctrl.Result{}, err
	}
	_, after := status.ProblemCondition("", err)
	r.warnOwner(ctx, template, reason, err)
	return ctrl.Result{RequeueAfter: after}, nil
}

func (r *Reconciler) warnOwner(ctx context.Context, template *infrav1.AzureMachineTemplate, reason string, err error) {
	r.eventLog.WarnOnce(ctx, template, nodeMatter, reason, "the cluster autoscaler cannot read the properties of a node: "+err.Error(), err)
}
