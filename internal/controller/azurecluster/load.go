package azurecluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
)

// input is what one pass works on: plain data, gathered before anything is decided.
type input struct {
	key          client.ObjectKey
	cluster      *clusterv1.Cluster
	azureCluster *infrav1.AzureCluster
	// changes are those of the pass to azureCluster.
	changes *patch.Changes
	// story is what events tell of the pass.
	story  *story.Pass
	access *access.Access
	// clusterGone tells that cluster stands for one that is not there any more.
	clusterGone bool
	// controlPlaneSize is the VM size of the control plane's machine template; "" when nothing tells.
	controlPlaneSize string
}

// object names the object of the pass for Azure's side.
func (in *input) object() string { return "AzureCluster/" + in.key.String() }

// load reads the AzureCluster and its owner. It returns nil when there is nothing to do yet.
func (r *Reconciler) load(ctx context.Context, request ctrl.Request) (*input, error) {
	azureCluster := &infrav1.AzureCluster{}
	if err := r.Client.Get(ctx, request.NamespacedName, azureCluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.settled.Forget(request.NamespacedName)
			r.teller.Forget(azureCluster, request.NamespacedName)
			// Somebody may have taken its finalizer off, and its name on the identity with nobody to remove it.
			return nil, r.Access.Release(ctx, infrav1.ClusterFinalizer, request.NamespacedName)
		}
		return nil, fmt.Errorf("get AzureCluster %s: %w", request, err)
	}
	if annotations.IsExternallyManaged(azureCluster) {
		return nil, nil
	}
	cluster, err := r.clusterOf(ctx, azureCluster)
	if err != nil {
		return nil, fmt.Errorf("get the Cluster of AzureCluster %s: %w", request, err)
	}
	in := &input{key: request.NamespacedName, cluster: cluster, azureCluster: azureCluster}
	if cluster == nil {
		in.cluster, in.clusterGone = deletion.LeftBehind(azureCluster), true
	}
	if in.cluster == nil {
		r.Recorder.Eventf(azureCluster, nil, corev1.EventTypeNormal, "OwnerRefNotSet", "Reconcile", "Cluster Controller has not yet set OwnerRef")
		return nil, nil
	}
	return in, nil
}

// clusterOf is the Cluster that owns the AzureCluster, or refers to it: Cluster API takes seconds to set the owner, and
// nothing depends on it. It is nil when there is none.
func (r *Reconciler) clusterOf(ctx context.Context, azureCluster *infrav1.AzureCluster) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, r.Client, azureCluster.ObjectMeta)
	if err != nil || cluster != nil {
		return cluster, client.IgnoreNotFound(err)
	}
	list := &clusterv1.ClusterList{}
	if err := r.Client.List(ctx, list, client.InNamespace(azureCluster.Namespace)); err != nil {
		return nil, err
	}
	for i, item := range list.Items {
		ref := item.Spec.InfrastructureRef
		if ref.APIGroup == infrav1.GroupVersion.Group && ref.Kind == "AzureCluster" && ref.Name == azureCluster.Name && item.DeletionTimestamp.IsZero() {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// open gives the pass access to Azure as the cluster's identity.
func (r *Reconciler) open(ctx context.Context, in *input) (err error) {
	spec := in.azureCluster.Spec
	in.access, err = r.Access.Open(ctx, access.Request{
		Ref: spec.IdentityRef, Namespace: in.key.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	})
	return err
}

// users finds the AzureClusters of an identity.
func (r *Reconciler) users() access.Users { return access.AzureClusters(r.Client) }
