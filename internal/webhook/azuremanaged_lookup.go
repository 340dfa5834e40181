package webhook

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// managedLookup reads the objects that the rules of AKS clusters and pools depend on. It does not wait for missing ones: objects
// are created in any order, and the label with the Cluster's name is added later.
type managedLookup struct{ reader client.Reader }

// findCluster returns the Cluster that an object's label names. It returns nil if the label is missing or the Cluster does not exist.
func (l managedLookup) findCluster(ctx context.Context, obj client.Object) (*clusterv1.Cluster, error) {
	name := obj.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	switch err := l.reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, cluster); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the Cluster %s/%s: %w", obj.GetNamespace(), name, err)
	}
	return cluster, nil
}

// apiVersionOf returns the version of AKS's API that is used for the cluster of a pool, or anyVersion if the pool has no patches or the
// cluster is not known yet.
func (l managedLookup) apiVersionOf(ctx context.Context, p *infrav1.AzureManagedMachinePool) (string, error) {
	if len(p.Spec.ASOManagedClustersAgentPoolPatches) == 0 {
		return anyVersion, nil
	}
	cluster, err := l.findCluster(ctx, p)
	if err != nil || cluster == nil || cluster.Spec.ControlPlaneRef.Kind != "AzureManagedControlPlane" {
		return anyVersion, err
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	key := client.ObjectKey{Namespace: p.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}
	switch err := l.reader.Get(ctx, key, controlPlane); {
	case apierrors.IsNotFound(err):
		return anyVersion, nil
	case err != nil:
		return anyVersion, fmt.Errorf("get the AzureManagedControlPlane %s: %w", key, err)
	}
	return aks.APIVersionFor(controlPlane), nil
}
