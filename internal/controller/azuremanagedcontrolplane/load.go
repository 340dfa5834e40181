package azuremanagedcontrolplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// input is what one pass works on: plain data, gathered before anything is decided.
type input struct {
	key     client.ObjectKey
	cluster *clusterv1.Cluster
	// clusterGone tells that cluster stands for one that is not there any more.
	clusterGone  bool
	controlPlane *infrav1.AzureManagedControlPlane
	// changes are those of the pass to controlPlane.
	changes *patch.Changes
	// story is what events tell of the pass.
	story  *story.Pass
	access *access.Access
	// planned is what the plan is computed from.
	planned plan.Input
}

// object names the object of the pass for Azure's side.
func (in *input) object() string { return "AzureManagedControlPlane/" + in.key.String() }

// load reads the AzureManagedControlPlane and its owner. It returns nil when there is nothing to do yet.
func (r *Reconciler) load(ctx context.Context, request ctrl.Request) (*input, error) {
	controlPlane := &infrav1.AzureManagedControlPlane{}
	if err := r.Client.Get(ctx, request.NamespacedName, controlPlane); err != nil {
		if apierrors.IsNotFound(err) {
			r.settled.Forget(request.NamespacedName)
			r.teller.Forget(controlPlane, request.NamespacedName)
			// Somebody may have taken its finalizer off, and its name on the identity with nobody to remove it.
			return nil, r.Access.Release(ctx, infrav1.ManagedControlPlaneFinalizer, request.NamespacedName)
		}
		return nil, fmt.Errorf("get AzureManagedControlPlane %s: %w", request, err)
	}
	if annotations.IsExternallyManaged(controlPlane) {
		return nil, nil
	}
	cluster, err := managed.ClusterOf(ctx, r.Client, controlPlane, managed.ControlPlaneKind)
	if err != nil {
		return nil, fmt.Errorf("get the Cluster of AzureManagedControlPlane %s: %w", request, err)
	}
	in := &input{key: request.NamespacedName, cluster: cluster, controlPlane: controlPlane}
	if cluster == nil {
		in.cluster, in.clusterGone = deletion.LeftBehind(controlPlane), true
	}
	if in.cluster == nil {
		r.Recorder.Eventf(controlPlane, nil, corev1.EventTypeNormal, "OwnerRefNotSet", "Reconcile", "no Cluster owns or refers to the AzureManagedControlPlane yet")
		return nil, nil
	}
	return in, nil
}

// open gives the pass access to Azure as the cluster's identity.
func (r *Reconciler) open(ctx context.Context, in *input) (err error) {
	in.access, err = managed.Open(ctx, r.Access, in.controlPlane)
	return err
}

// users finds the AzureManagedControlPlanes of an identity.
func (r *Reconciler) users() access.Users {
	return access.Users{
		Kubernetes: r.Client,
		List:       func() client.ObjectList { return &infrav1.AzureManagedControlPlaneList{} },
		Ref: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureManagedControlPlane).Spec.IdentityRef
		},
	}
}
