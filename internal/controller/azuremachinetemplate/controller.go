// Package azuremachinetemplate reconciles AzureMachineTemplates: it writes the properties of a node of the template into the status, and
// shows in the condition Ready whether machines can be created from the template: whether the VM size and the identities exist. With these
// properties the cluster autoscaler scales up groups of machines that have no node yet.
//
// https://cluster-api.sigs.k8s.io/developer/providers/contracts/infra-machine
package azuremachinetemplate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lending"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
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
	Access   *access.Opener
	Facts    *facts.Facts
	// WatchFilter is the required value of the label cluster.x-k8s.io/watch-filter; "" accepts all objects.
	WatchFilter string
	// Work counts failed writes of the status.
	Work metrics.Work

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
		Complete(lastwrites.Guard(r.Client, "AzureMachineTemplate", &infrav1.AzureMachineTemplate{}, r))
}

// Reconcile reconciles one AzureMachineTemplate. The spec of a template is immutable, so a template that is Ready and has a complete
// status is done.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	template := &infrav1.AzureMachineTemplate{}
	if err := r.Client.Get(ctx, request.NamespacedName, template); err != nil {
		if apierrors.IsNotFound(err) {
			r.eventLog.Forget(template, request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !watch.MatchesFilter(template, r.WatchFilter) {
		r.eventLog.Forget(template, request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if !template.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	changes := patch.TrackChanges(r.Client, template)
	in, opened, err := r.loadCluster(ctx, template)
	if err != nil {
		return r.reportFailure(ctx, template, changes, err)
	}
	switch {
	case in == nil:
		return ctrl.Result{}, changes.Write(ctx)
	case in.Cluster == nil:
		setReady(template, notChecked)
		return ctrl.Result{}, r.writeStatus(ctx, changes)
	case in.AzureCluster == nil:
		conditions.Set(template, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse,
			Reason: infrav1.AzureClusterNotFoundReason, Message: fmt.Sprintf("AzureCluster %s, to which Cluster %s refers in spec.infrastructureRef, does not exist. Create it",
				in.Cluster.Spec.InfrastructureRef.Name, in.Cluster.Name)})
		return ctrl.Result{}, r.writeStatus(ctx, changes)
	case isComplete(template) && opened == nil:
		return ctrl.Result{}, r.writeStatus(ctx, changes)
	}
	if err := r.readNode(ctx, template, *in, facts.Caller{Client: opened.Client}, opened.LentGrants); err != nil {
		return r.reportFailure(ctx, template, changes, err)
	}
	r.eventLog.MarkResolved(template, nodeMatter)
	setReady(template, "")
	return ctrl.Result{}, r.writeStatus(ctx, changes)
}

// readNode sets the properties of a node, and checks that the identities of the machines exist. grants are those of a lent identity.
func (r *Reconciler) readNode(ctx context.Context, template *infrav1.AzureMachineTemplate, in plan.ClusterInput, caller facts.Caller,
	grants *lent.Grants) error {
	spec, path := template.Spec.Template.Spec, field.NewPath("spec", "template", "spec")
	size, near, err := r.Facts.FindVMSize(ctx, caller, in, spec.VMSize)
	if err != nil {
		return err
	}
	if size == nil {
		return field.Invalid(path.Child("vmSize"), spec.VMSize, plan.DescribeUnknownSize(plan.Location(in), near))
	}
	node, err := machine.NodeInfo(size, spec.OSDisk.OSType)
	if err != nil {
		return field.Invalid(path.Child("vmSize"), spec.VMSize, err.Error())
	}
	template.Status.Capacity, template.Status.NodeInfo = machine.NodeCapacity(size), &node
	if err := lending.CheckIdentities(ctx, r.Facts, caller, grants, ownership.OwnerOf(in.AzureCluster, in.Cluster.Name), in.SubscriptionID,
		path.Child("userAssignedIdentities"), spec.UserAssignedIdentities); err != nil {
		return err
	}
	for i, identity := range spec.UserAssignedIdentities {
		of := path.Child("userAssignedIdentities").Index(i).Child("providerID")
		if _, err := r.Facts.ReadUserAssignedClientID(ctx, caller, of, identity.ProviderID); err != nil {
			return err
		}
	}
	return nil
}

// notChecked is the message of Ready of a template that belongs to no Cluster with an AzureCluster.
const notChecked = "the template is not checked, because it belongs to no Cluster with an AzureCluster"

// isComplete reports whether everything about a template is known.
func isComplete(template *infrav1.AzureMachineTemplate) bool {
	return len(template.Status.Capacity) > 0 && template.Status.NodeInfo != nil && conditions.IsTrue(template, infrav1.ReadyCondition)
}

func setReady(template *infrav1.AzureMachineTemplate, message string) {
	conditions.Set(template, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason,
		Message: message})
}

// writeStatus writes the status. The log and a metric show a failure.
func (r *Reconciler) writeStatus(ctx context.Context, changes *patch.Changes) error {
	err := changes.Finish(ctx)
	if eventlog.IsFailure(ctx, err) {
		r.Work.CountFailedStatusWrite("AzureMachineTemplate")
	}
	return err
}

// loadCluster reads the cluster of a template and opens its access to Azure. The input is nil for a paused template, and has no
// Cluster for a template without one, as those of a ClusterClass. The access is nil if nothing has to be asked.
func (r *Reconciler) loadCluster(ctx context.Context, template *infrav1.AzureMachineTemplate) (*plan.ClusterInput, *access.Access, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.Client, template.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, err
	}
	if lifecycle.UpdatePausedCondition(template, "AzureMachineTemplate", cluster) {
		return nil, nil, nil
	}
	if cluster == nil || cluster.Spec.InfrastructureRef.Kind != "AzureCluster" {
		return &plan.ClusterInput{}, nil, nil
	}
	if isComplete(template) {
		return &plan.ClusterInput{Cluster: cluster, AzureCluster: &infrav1.AzureCluster{}}, nil, nil
	}
	azureCluster := &infrav1.AzureCluster{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, key, azureCluster); err != nil {
		return &plan.ClusterInput{Cluster: cluster}, nil, client.IgnoreNotFound(err)
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

// reportFailure shows in Ready and in an event why the properties of a node are unknown.
func (r *Reconciler) reportFailure(ctx context.Context, template *infrav1.AzureMachineTemplate, changes *patch.Changes,
	err error) (ctrl.Result, error) {
	if !eventlog.IsFailure(ctx, err) {
		return ctrl.Result{}, err
	}
	condition, _ := status.ProblemCondition(infrav1.ReadyCondition, err)
	if ready := conditions.Get(template, infrav1.ReadyCondition); ready != nil && ready.Message == notChecked {
		// Such a template was never seen in order.
		conditions.Delete(template, infrav1.ReadyCondition)
	}
	after := status.SetReadError(template, err, infrav1.ReadyCondition)
	r.warnOwner(ctx, template, condition.Reason, err)
	return ctrl.Result{RequeueAfter: max(after, time.Second)}, r.writeStatus(ctx, changes)
}

func (r *Reconciler) warnOwner(ctx context.Context, template *infrav1.AzureMachineTemplate, reason string, err error) {
	r.eventLog.WarnOnce(ctx, template, nodeMatter, reason, err.Error(), err)
}
