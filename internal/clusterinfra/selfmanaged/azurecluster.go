// Package selfmanaged reads the common input of the plans of machines and pools of a self-managed cluster: the AzureCluster, its zones,
// bootstrap data, and the passwords of Windows VMs. Calls block for reads, write nothing and
// may be repeated. Passwords stay constant while the process runs, and are not stored.
package selfmanaged

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// FindAzureCluster returns the AzureCluster that a Cluster refers to, or nil. If the Cluster is gone, it is found by the Cluster's
// name.
func FindAzureCluster(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster, gone bool) (*infrav1.AzureCluster, error) {
	if !gone {
		out := &infrav1.AzureCluster{}
		key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
		if err := c.Get(ctx, key, out); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return nil, fmt.Errorf("get AzureCluster %s: %w", key, err)
		}
		return out, nil
	}
	list := &infrav1.AzureClusterList{}
	if err := c.List(ctx, list, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureClusters: %w", err)
	}
	for i := range list.Items {
		if name := deletion.ClusterName(&list.Items[i]); name != "" && name == cluster.Name {
			return list.Items[i].DeepCopy(), nil
		}
	}
	return nil, nil
}

// AvailabilityZones returns the availability zones of the region, as found for the AzureCluster.
func AvailabilityZones(azureCluster *infrav1.AzureCluster) []string {
	var out []string
	for _, domain := range azureCluster.Status.FailureDomains.Domains {
		out = append(out, domain.Name)
	}
	return out
}

// IsProvisioned reports whether the infrastructure of a Cluster was provisioned once.
func IsProvisioned(cluster *clusterv1.Cluster) bool {
	provisioned := cluster.Status.Initialization.InfrastructureProvisioned
	return provisioned != nil && *provisioned
}
