// Package selfmanaged gathers what the plans of machines and of pools of a self-managed cluster are both computed from: the
// FindAzureCluster, its zones, what VMs boot with, and the passwords of Windows VMs.
package selfmanaged

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// FindAzureCluster is the one that a Cluster refers to, nil when it is not there. Of a Cluster that is gone it is the one that
// belongs to a Cluster of this name.
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
	if err := c.List(ctx, list, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("list AzureClusters: %w", err)
	}
	for i := range list.Items {
		if name := deletion.ClusterName(&list.Items[i]); name != "" && name == cluster.Name {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// ReadBootstrapData are what a VM boots with; nil when no Secret is named yet or it is gone.
func ReadBootstrapData(ctx context.Context, c client.Reader, namespace string, name *string) ([]byte, error) {
	if name == nil || *name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: *name}
	if err := c.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get bootstrap data secret %s: %w", key, err)
	}
	data, ok := secret.Data["value"]
	if !ok {
		return nil, fmt.Errorf("bootstrap data secret %s has no key \"value\"", key)
	}
	return data, nil
}

// AvailabilityZones are the availability zones of the region as the FindAzureCluster found them.
func AvailabilityZones(azureCluster *infrav1.AzureCluster) []string {
	var out []string
	for _, domain := range azureCluster.Status.FailureDomains.Domains {
		out = append(out, domain.Name)
	}
	return out
}

// IsProvisioned tells whether the network of a Cluster has been in place once.
func IsProvisioned(cluster *clusterv1.Cluster) bool {
	provisioned := cluster.Status.Initialization.InfrastructureProvisioned
	return provisioned != nil && *provisioned
}
