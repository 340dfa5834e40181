// Package azurejson keeps the Secrets with azure.json, the configuration that cloud-provider-azure and the kubelet's credential
// provider read on every node.
//
// There is one Secret <name>-azure-json per AzureMachineTemplate, per AzureMachinePool, and per AzureMachine without a template. A
// Secret of that name that the cluster does not own belongs to the user and is left alone. A Secret is deleted with its owner, and an hour after
// it for the template of the control plane of a ClusterClass.
package azurejson

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cloudconfig"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lending"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azuremachinetemplates/finalizers,verbs=update

// Reconciler keeps the Secrets of templates, pools and machines.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Access   *access.Opener
	Facts    *facts.Facts
	Features plan.Features
	// WatchFilter is the required value of the label cluster.x-k8s.io/watch-filter; "" accepts all objects.
	WatchFilter string
	// Secrets reads the metadata of the watched Secrets, as PartialObjectMetadata. If nil, Secrets are read in every reconciliation.
	Secrets client.Reader
	// Now is the clock. It is compared with the timestamps of templates.
	Now func() time.Time

	eventLog *eventlog.Recorder
	verified verifiedSecrets
}

// Kinds selects the kinds besides AzureMachineTemplate that get a Secret.
type Kinds struct{ Machines, Pools bool }

// SetupWithManager registers one controller for templates and one for each of the kinds.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options, kinds Kinds) error {
	r.eventLog = eventlog.NewRecorder(r.Recorder)
	if err := r.setupController(ctx, mgr, options, "azurejson-template", &infrav1.AzureMachineTemplate{}, &infrav1.AzureMachineTemplateList{},
		r.reconcileTemplate); err != nil {
		return err
	}
	if kinds.Pools {
		if err := r.setupController(ctx, mgr, options, "azurejson-machinepool", &infrav1.AzureMachinePool{}, &infrav1.AzureMachinePoolList{},
			r.reconcilePool); err != nil {
			return err
		}
	}
	if !kinds.Machines {
		return nil
	}
	return r.setupController(ctx, mgr, options, "azurejson-machine", &infrav1.AzureMachine{}, &infrav1.AzureMachineList{}, r.reconcileMachine)
}

func (r *Reconciler) setupController(ctx context.Context, mgr ctrl.Manager, options controller.Options, name string, object client.Object,
	list client.ObjectList, do reconcile.Func) error {
	log := ctrl.LoggerFrom(ctx)
	ofCluster := clusterinfra.MapOwnedBy(r.Client, list)
	if _, template := object.(*infrav1.AzureMachineTemplate); !template {
		var err error
		if ofCluster, err = util.ClusterToTypedObjectsMapper(mgr.GetClient(), list, mgr.GetScheme()); err != nil {
			return fmt.Errorf("map Clusters to %T: %w", list, err)
		}
	}
	_, joining := object.(*infrav1.AzureMachinePool)
	dependents := clusterinfra.Dependents{Client: r.Client, MapCluster: ofCluster, IncludeAKS: joining}
	b := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		For(object, builder.WithPredicates(watch.OwnChanges())).
		WithOptions(options).
		WithEventFilter(predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, r.WatchFilter)).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(ofCluster),
			builder.WithPredicates(watch.SpecOrStatusChanges(readProvisioned))).
		Watches(&infrav1.AzureCluster{}, handler.EnqueueRequestsFromMapFunc(dependents.MapAzureCluster),
			builder.WithPredicates(watch.GenerationChanges())).
		Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(dependents.MapIdentity),
			builder.WithPredicates(watch.IdentityChanges())).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(dependents.MapSecret), builder.OnlyMetadata)
	if joining {
		b = b.Watches(&infrav1.AzureManagedControlPlane{}, handler.EnqueueRequestsFromMapFunc(dependents.MapControlPlane),
			builder.WithPredicates(watch.GenerationChanges()))
	}
	return b.Complete(do)
}

// readProvisioned returns the part of a Cluster's status that azure.json depends on. Cluster API changes other parts with every
// machine.
func readProvisioned(cluster *clusterv1.Cluster) any { return selfmanaged.IsProvisioned(cluster) }

func (r *Reconciler) reconcileTemplate(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	template := &infrav1.AzureMachineTemplate{}
	if ok, err := r.readOwner(ctx, request, template); !ok {
		return ctrl.Result{}, err
	}
	cluster, err := util.GetOwnerCluster(ctx, r.Client, template.ObjectMeta)
	if err != nil {
		return ctrl.Result{}, r.warnOwner(ctx, template, client.IgnoreNotFound(err))
	}
	return r.reconcileSecret(ctx, cluster, template, template.Spec.Template.Spec.ManagedIdentities)
}

func (r *Reconciler) reconcileMachine(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	machine := &infrav1.AzureMachine{}
	if ok, err := r.readOwner(ctx, request, machine); !ok {
		return ctrl.Result{}, err
	}
	if machine.Annotations[clusterv1.TemplateClonedFromGroupKindAnnotation] == infrav1.GroupVersion.WithKind("AzureMachineTemplate").GroupKind().String() {
		return ctrl.Result{}, nil
	}
	return r.reconcileLabelled(ctx, machine, machine.Spec.ManagedIdentities)
}

func (r *Reconciler) reconcilePool(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	pool := &infrav1.AzureMachinePool{}
	if ok, err := r.readOwner(ctx, request, pool); !ok {
		return ctrl.Result{}, err
	}
	return r.reconcileLabelled(ctx, pool, pool.Spec.ManagedIdentities)
}

// reconcileLabelled is reconcileSecret for an object with the label of its Cluster.
func (r *Reconciler) reconcileLabelled(ctx context.Context, owner client.Object, identities infrav1.ManagedIdentities) (ctrl.Result,
	error) {
	cluster, err := util.GetClusterFromMetadata(ctx, r.Client, metav1.ObjectMeta{Namespace: owner.GetNamespace(), Labels: owner.GetLabels()})
	if err != nil {
		if apierrors.IsNotFound(err) || errors.Is(err, util.ErrNoCluster) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, r.warnOwner(ctx, owner, fmt.Errorf("get the Cluster of %s: %w", client.ObjectKeyFromObject(owner), err))
	}
	return r.reconcileSecret(ctx, cluster, owner, identities)
}

// readOwner reads the owner of a Secret. It returns false, and forgets the owner, if it is gone or another manager reconciles it.
func (r *Reconciler) readOwner(ctx context.Context, request ctrl.Request, owner client.Object) (ok bool, err error) {
	err = r.Client.Get(ctx, request.NamespacedName, owner)
	if err == nil && watch.MatchesFilter(owner, r.WatchFilter) {
		return true, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	r.eventLog.Forget(owner, request.NamespacedName)
	r.verified.forget(secretKey(request.NamespacedName))
	return false, nil
}

// canDescribe reports whether the location of the owner's machines is known. In AKS clusters only scale sets that join them get a
// Secret, and Azure decides their location when the cluster exists.
func (r *Reconciler) canDescribe(found clusterinfra.Infrastructure, cluster *clusterv1.Cluster, owner client.Object) bool {
	if found.ControlPlane == nil {
		return found.Exists()
	}
	_, pool := owner.(*infrav1.AzureMachinePool)
	return pool && selfmanaged.IsProvisioned(cluster)
}

// reconcileSecret is keepSecret with events about errors on owner.
func (r *Reconciler) reconcileSecret(ctx context.Context, cluster *clusterv1.Cluster, owner client.Object,
	spec infrav1.ManagedIdentities) (ctrl.Result, error) {
	result, err := r.keepSecret(ctx, cluster, owner, spec)
	return result, r.warnOwner(ctx, owner, err)
}

// keepSecret writes the Secret of owner for machines with these identities.
func (r *Reconciler) keepSecret(ctx context.Context, cluster *clusterv1.Cluster, owner client.Object,
	spec infrav1.ManagedIdentities) (ctrl.Result, error) {
	if cluster == nil || annotations.IsPaused(cluster, owner) || !owner.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, nil
	}
	found, err := clusterinfra.FindInfrastructure(ctx, r.Client, cluster, false)
	if err != nil || !r.canDescribe(found, cluster, owner) {
		return ctrl.Result{}, err
	}
	opened, err := r.Access.Open(ctx, found.AccessRequest())
	if err != nil {
		return r.reportFailure(ctx, owner, err)
	}
	caller := facts.Caller{Client: opened.Client.ReadOnly()}
	in, err := found.AddFacts(ctx, r.Facts, caller, found.PlanInput(cluster, opened.SubscriptionID, r.Features))
	if err != nil {
		return r.reportFailure(ctx, owner, err)
	}
	credential := opened.CloudConfigSecret()
	if credential.ClientSecret != "" {
		// An identity may name any Secret. A client secret that Entra ID does not accept for the identity is not written where its
		// namespace can read it.
		if err := opened.Client.SignIn(ctx); err != nil {
			return r.reportFailure(ctx, owner, err)
		}
	}
	if err := r.warnWithoutIdentity(ctx, cluster, owner, spec, credential); err != nil {
		return ctrl.Result{}, err
	}
	input := cloudconfig.Input{
		ClusterInput: in,
		Identity:     spec.Identity,
		TenantID:     credential.TenantID,
		ClientID:     credential.ClientID,
		ClientSecret: credential.ClientSecret,
	}
	if spec.Identity == infrav1.VMIdentityUserAssigned && len(spec.UserAssignedIdentities) > 0 {
		path := field.NewPath("spec")
		if _, template := owner.(*infrav1.AzureMachineTemplate); template {
			path = path.Child("template", "spec")
		}
		if err := lending.CheckIdentities(ctx, r.Facts, caller, opened.LentGrants, ownership.OwnerOf(found.Owner(), cluster.Name),
			opened.SubscriptionID, path.Child("userAssignedIdentities"), spec.UserAssignedIdentities[:1]); err != nil {
			return r.reportFailure(ctx, owner, err)
		}
		input.UserAssignedClientID, err = r.Facts.ReadUserAssignedClientID(ctx, caller,
			path.Child("userAssignedIdentities").Index(0).Child("providerID"), spec.UserAssignedIdentities[0].ProviderID)
		if err != nil {
			return r.reportFailure(ctx, owner, err)
		}
	}
	controlPlane, worker, err := cloudconfig.BuildAzureJSON(input)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("azure.json of %s: %w", owner.GetName(), err)
	}
	err = r.writeSecret(ctx, cluster, owner, map[string][]byte{
		"control-plane-azure.json": controlPlane,
		"worker-node-azure.json":   worker,
		"azure.json":               controlPlane,
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	r.eventLog.MarkResolved(owner, infrav1.CloudConfigFailedReason)
	again, err := r.deleteRetired(ctx, cluster, owner)
	return ctrl.Result{RequeueAfter: again}, err
}
