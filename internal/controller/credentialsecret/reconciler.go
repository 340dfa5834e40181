// Package credentialsecret keeps the Secrets with the credentials of AzureClusterIdentities and resource manifests while they are in
// use. The deletion of a namespace deletes its Secrets first, and without them the resources of its clusters could not be deleted in
// Azure.
//
// A Secret has the finalizer exactly while one of these is true: an identity that may use it is in use, which the identity's own
// finalizers show; or an object with resource manifests uses it and may have resources in Azure. Together with the finalizer a Secret
// gets the label for clusterctl move, if clusterctl moves its user: an identity of its namespace, by the label of the identity's kind,
// or an object with manifests, which moves with its Cluster. Nothing else of a Secret is changed, and its values are not read.
package credentialsecret

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=azureclusteridentities,verbs=get;list;watch

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// Reconciler keeps the finalizer of Secrets with credentials.
type Reconciler struct {
	Client     client.Client
	Recorder   events.EventRecorder
	Identities *identity.Provider
	// ASOResources is set if the controllers of the AzureASOManaged kinds run. Without them their finalizers would never be removed.
	ASOResources bool
}

// SetupWithManager registers the controller. It ignores the watch-filter label: all managers of a management cluster have to come to
// the same result.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, options controller.Options) error {
	secrets := ctrl.NewControllerManagedBy(mgr).
		Named("credential").
		WithOptions(options).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.mapSecret), builder.OnlyMetadata).
		Watches(&infrav1.AzureClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(mapIdentity))
	if r.ASOResources {
		for _, kind := range []client.Object{&infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{},
			&infrav1.AzureASOManagedMachinePool{}} {
			secrets.Watches(kind, handler.EnqueueRequestsFromMapFunc(r.mapASOObject), builder.WithPredicates(watch.OwnChanges()))
		}
	}
	if err := secrets.Complete(r); err != nil {
		return fmt.Errorf("controller of Secrets with credentials: %w", err)
	}
	return nil
}

// mapSecret wakes a Secret that has the finalizer, or that an identity or a manifest names.
func (r *Reconciler) mapSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(secret)}
	if controllerutil.ContainsFinalizer(secret, infrav1.CredentialFinalizer) {
		return []ctrl.Request{request}
	}
	identities, err := identity.FindBySecret(ctx, r.Client, request.NamespacedName)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the AzureClusterIdentities of a Secret")
	}
	if len(identities) > 0 || r.isNamedByManifest(ctx, request.NamespacedName) {
		return []ctrl.Request{request}
	}
	return nil
}

// isNamedByManifest reports whether a resource manifest names a Secret.
func (r *Reconciler) isNamedByManifest(ctx context.Context, secret client.ObjectKey) bool {
	if !r.ASOResources {
		return false
	}
	named, err := asoresources.IsNamedAsCredential(ctx, r.Client, secret)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the resource manifests that refer to a Secret")
	}
	return named
}

// mapASOObject wakes the Secrets that the manifests of an object name, and all kept Secrets of its namespace: they may be named by
// manifests of other objects of the Cluster, which may be gone.
func (r *Reconciler) mapASOObject(ctx context.Context, object client.Object) []ctrl.Request {
	kept := &metav1.PartialObjectMetadataList{}
	kept.SetGroupVersionKind(secretKind)
	if err := r.Client.List(ctx, kept, client.InNamespace(object.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list Secrets")
	}
	names := asoresources.CredentialNames(object)
	for _, secret := range kept.Items {
		if controllerutil.ContainsFinalizer(&secret, infrav1.CredentialFinalizer) && !slices.Contains(names, secret.Name) {
			names = append(names, secret.Name)
		}
	}
	var out []ctrl.Request
	for _, name := range names {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: name}})
	}
	return out
}

// mapIdentity wakes the Secret of an identity. An update wakes the former and the new Secret.
func mapIdentity(_ context.Context, object client.Object) []ctrl.Request {
	key, ok := identity.SecretOf(object.(*infrav1.AzureClusterIdentity))
	if !ok {
		return nil
	}
	return []ctrl.Request{{NamespacedName: key}}
}

// moveLabelPrefix is the prefix of the labels "move" and "move-hierarchy", with which clusterctl moves an object outside of a Cluster's
// hierarchy. Their values do not matter.
// https://cluster-api.sigs.k8s.io/clusterctl/provider-contract#move
const moveLabelPrefix = "clusterctl.cluster.x-k8s.io/"

// hasMoveLabel reports whether an object has one of these labels.
func hasMoveLabel(object client.Object) bool {
	labels := object.GetLabels()
	return metav1.HasLabel(metav1.ObjectMeta{Labels: labels}, moveLabelPrefix+"move") ||
		metav1.HasLabel(metav1.ObjectMeta{Labels: labels}, moveLabelPrefix+"move-hierarchy")
}

// Reconcile adds the finalizer to a Secret, or removes it.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(secretKind)
	if err := r.Client.Get(ctx, request.NamespacedName, secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	users, movesWithNamespace, err := r.findUsers(ctx, secret)
	if err == nil && r.ASOResources {
		users, movesWithNamespace, err = r.addASOUsers(ctx, secret, users, movesWithNamespace)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	before := secret.DeepCopy()
	switch deleting := !secret.DeletionTimestamp.IsZero(); {
	case len(users) == 0 || deletion.IsMoved(secret):
		controllerutil.RemoveFinalizer(secret, infrav1.CredentialFinalizer)
	case !deleting:
		controllerutil.AddFinalizer(secret, infrav1.CredentialFinalizer)
		// The label stays when the Secret is no longer in use, because its origin is not known by then.
		if movesWithNamespace && !hasMoveLabel(secret) {
			metav1.SetMetaDataLabel(&secret.ObjectMeta, moveLabelPrefix+"move", "true")
		}
	case controllerutil.ContainsFinalizer(secret, infrav1.CredentialFinalizer):
		r.Recorder.Eventf(secret, nil, corev1.EventTypeNormal, infrav1.InUseReason, "Delete",
			"is kept while it is in use: %s", strings.Join(users, ", "))
	}
	if slices.Equal(before.Finalizers, secret.Finalizers) && maps.Equal(before.Labels, secret.Labels) {
		return ctrl.Result{}, nil
	}
	err = r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// findUsers returns the names of the identities that may use the Secret and are in use. movesWithNamespace is true if clusterctl moves one of
// them with the Secret's namespace.
func (r *Reconciler) findUsers(ctx context.Context, secret *metav1.PartialObjectMetadata) (names []string, movesWithNamespace bool, err error) {
	identities, err := identity.FindBySecret(ctx, r.Client, client.ObjectKeyFromObject(secret))
	if err != nil {
		return nil, false, err
	}
	for _, candidate := range identities {
		if !slices.ContainsFunc(candidate.Finalizers, identity.IsUser) {
			continue
		}
		allowed, err := r.Identities.MayUse(ctx, &candidate, secret.Namespace, secret.Annotations)
		if err != nil {
			return nil, false, err
		}
		if allowed {
			names = append(names, identity.Kind+" "+candidate.Namespace+"/"+candidate.Name)
			movesWithNamespace = movesWithNamespace || candidate.Namespace == secret.Namespace
		}
	}
	slices.Sort(names)
	return names, movesWithNamespace, nil
}

// addASOUsers adds the objects with manifests that use the Secret. All of them are listed only for the event of a Secret that is being
// deleted; otherwise one is enough, which saves reading all objects for each change of one.
func (r *Reconciler) addASOUsers(ctx context.Context, secret *metav1.PartialObjectMetadata, users []string,
	movesWithNamespace bool) ([]string, bool, error) {
	most := 1
	if !secret.DeletionTimestamp.IsZero() {
		most = math.MaxInt
	}
	objects, err := asoresources.FindCredentialUsers(ctx, r.Client, client.ObjectKeyFromObject(secret), most)
	return append(users, objects...), movesWithNamespace || len(objects) > 0, err
}
