package azurecluster

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/leftovers"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// input is the input of one reconciliation.
type input struct {
	cluster      *clusterv1.Cluster
	clusterGone  bool
	azureCluster *infrav1.AzureCluster
	// controlPlaneSize is the VM size of the control plane's machine template; "" if it is not known.
	controlPlaneSize string
	planned          plan.ClusterInput
	// leftoversToDelete are leftovers of Services and volumes in the group of a cluster that is being deleted that are deleted with it,
	// leftoversKept those that stay. refusedLists are the lists of the group that Azure refused.
	leftoversToDelete []arm.ID
	leftoversKept     []leftovers.Leftover
	refusedLists      []string
}

// Load implements reconcile.Kind.
func (k *Kind) Load(ctx context.Context, azureCluster *infrav1.AzureCluster) (*input, reconcile.Target, error) {
	cluster, err := k.findCluster(ctx, azureCluster)
	if err != nil {
		return nil, reconcile.Target{}, fmt.Errorf("get the Cluster: %w", err)
	}
	gone := cluster == nil
	if gone {
		if cluster = deletion.SubstituteCluster(azureCluster); cluster == nil {
			return nil, reconcile.Target{}, reconcile.WaitForOwner(infrav1.OwnerRefNotSetReason,
				"no Cluster owns the AzureCluster. Create one that refers to it in spec.infrastructureRef")
		}
	}
	return &input{cluster: cluster, clusterGone: gone, azureCluster: azureCluster}, reconcile.Target{
		Cluster: cluster, Owner: azureCluster, Identity: access.RequestForAzureCluster(azureCluster),
		WasProvisioned: azureCluster.Status.Initialization.Provisioned != nil,
	}, nil
}

// findCluster returns the Cluster that owns the AzureCluster or refers to it: Cluster API takes seconds to set the owner reference, and
// nothing depends on it. It returns nil if there is none.
func (k *Kind) findCluster(ctx context.Context, azureCluster *infrav1.AzureCluster) (*clusterv1.Cluster, error) {
	cluster, err := util.GetOwnerCluster(ctx, k.Client, azureCluster.ObjectMeta)
	if err != nil || cluster != nil {
		return cluster, client.IgnoreNotFound(err)
	}
	list := &clusterv1.ClusterList{}
	if err := k.Client.List(ctx, list, client.InNamespace(azureCluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for i, item := range list.Items {
		ref := item.Spec.InfrastructureRef
		if ref.APIGroup == infrav1.GroupVersion.Group && ref.Kind == "AzureCluster" && ref.Name == azureCluster.Name &&
			item.DeletionTimestamp.IsZero() {
			return list.Items[i].DeepCopy(), nil
		}
	}
	return nil, nil
}
