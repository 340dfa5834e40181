package webhook

import (
	"context"
	"fmt"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// SubscriptionLookup finds the Azure subscription of a machine or pool. It looks once and does not wait. It returns "" for a
// cluster that leaves its subscription to the manager, and an error when the cluster is not there.
type SubscriptionLookup func(context.Context, client.Object) (string, error)

// SubscriptionOf looks up the subscription in the AzureCluster or AzureManagedControlPlane of the Cluster that the object's label
// names.
func SubscriptionOf(reader client.Reader) SubscriptionLookup {
	return func(ctx context.Context, obj client.Object) (string, error) {
		name := obj.GetLabels()[clusterv1.ClusterNameLabel]
		if name == "" {
			return "", fmt.Errorf("the label %s is missing", clusterv1.ClusterNameLabel)
		}
		cluster := &clusterv1.Cluster{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, cluster); err != nil {
			return "", fmt.Errorf("get the Cluster: %w", err)
		}
		if ref := cluster.Spec.ControlPlaneRef; cluster.Spec.InfrastructureRef.Kind == "AzureManagedCluster" {
			controlPlane := &infrav1.AzureManagedControlPlane{}
			if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}, controlPlane); err != nil {
				return "", fmt.Errorf("get the AzureManagedControlPlane: %w", err)
			}
			return controlPlane.Spec.SubscriptionID, nil
		}
		azureCluster := &infrav1.AzureCluster{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: cluster.Spec.InfrastructureRef.Name}, azureCluster); err != nil {
			return "", fmt.Errorf("get the AzureCluster: %w", err)
		}
		return azureCluster.Spec.SubscriptionID, nil
	}
}

// needsSubscription tells whether defaults depend on the subscription.
func needsSubscription(spec infrav1.ManagedIdentities) bool {
	role := spec.SystemAssignedIdentityRole
	return spec.Identity == infrav1.VMIdentitySystemAssigned && (role == nil || role.Scope == "" || role.DefinitionID == "")
}
