// Package azureclusteridentity reconciles AzureClusterIdentity: it says in the Ready condition whether a credential can be
// made of the identity, so that a missing Secret or key shows where it has to be mended.
//
// Whether Entra ID accepts the credential is told by the clusters that use it.
package azureclusteridentity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities/status,verbs=get;update;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// Reconciler reconciles AzureClusterIdentities.
type Reconciler struct {
	Client     client.Client
	Recorder   events.EventRecorder
	Identities *identity.Provider
	// WatchFilter is the value of the label cluster.x-k8s.io/watch-filter that objects must have; "" is all.
	WatchFilter string

	written patch.Written
	teller  *story.Teller
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	r.teller = story.New(r.Recorder)
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.AzureClusterIdentity{}, builder.WithPredicates(predicates.ResourceHasFilterLabel(mgr.GetScheme(), ctrl.LoggerFrom(ctx), r.WatchFilter), watch.Own())).
		WithOptions(options).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.identitiesOfSecret), builder.OnlyMetadata).
		Complete(r)
}

// identitiesOfSecret wakes the identities that refer to a Secret.
func (r *Reconciler) identitiesOfSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	list := &infrav1.AzureClusterIdentityList{}
	if err := r.Client.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list AzureClusterIdentities")
		return nil
	}
	var out []ctrl.Request
	for _, item := range list.Items {
		namespace := item.Spec.ClientSecret.Namespace
		if namespace == "" {
			namespace = item.Namespace
		}
		if item.Spec.ClientSecret.Name == secret.GetName() && namespace == secret.GetNamespace() {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
		}
	}
	return out
}

// Reconcile checks one AzureClusterIdentity.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &infrav1.AzureClusterIdentity{}
	if err := r.Client.Get(ctx, request.NamespacedName, object); err != nil {
		r.teller.Forget(object, request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !object.DeletionTimestamp.IsZero() {
		if annotations.HasPaused(object) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, r.reportHeld(ctx, object)
	}
	changes, result, err := lifecycle.Enter(ctx, r.Client, &r.written, nil, object, "")
	if err != nil || changes == nil {
		return result, err
	}
	pass := r.teller.Begin(ctx, object)
	defer pass.End()
	condition := metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	if err := r.Identities.Check(ctx, object); err != nil {
		pass.Failed(err)
		condition, result.RequeueAfter = report.Problem(infrav1.ReadyCondition, err)
	}
	report.Set(object, nil, []metav1.Condition{condition})
	if err := changes.Finish(ctx); err != nil {
		return ctrl.Result{}, err
	}
	return result, nil
}
