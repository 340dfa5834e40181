package webhook

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Placement is the location in Azure of the Cluster of a machine or pool, as far as defaults depend on it.
type Placement struct {
	// SubscriptionID is "" for a Cluster that uses the manager's subscription.
	SubscriptionID string
	// Group is the name of the Cluster's resource group.
	Group string
	// Lent is true if the Cluster's AzureClusterIdentity is in another namespace.
	Lent bool
}

// PlacementLookup returns the placement of a machine or pool. It does not wait: it returns an error if the Cluster does not exist
// yet.
type PlacementLookup func(context.Context, client.Object) (Placement, error)

// PlacementOf returns a lookup that reads the AzureCluster or AzureManagedControlPlane of the Cluster that the object's label
// names.
func PlacementOf(reader client.Reader) PlacementLookup {
	return func(ctx context.Context, obj client.Object) (Placement, error) {
		name := obj.GetLabels()[clusterv1.ClusterNameLabel]
		if name == "" {
			return Placement{}, fmt.Errorf("the label %s is missing", clusterv1.ClusterNameLabel)
		}
		cluster := &clusterv1.Cluster{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: name}, cluster); err != nil {
			return Placement{}, fmt.Errorf("get the Cluster: %w", err)
		}
		if ref := cluster.Spec.ControlPlaneRef; cluster.Spec.InfrastructureRef.Kind == "AzureManagedCluster" {
			controlPlane := &infrav1.AzureManagedControlPlane{}
			if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: ref.Name}, controlPlane); err != nil {
				return Placement{}, fmt.Errorf("get the AzureManagedControlPlane: %w", err)
			}
			spec := controlPlane.Spec
			return Placement{SubscriptionID: spec.SubscriptionID, Group: cmp.Or(spec.ResourceGroupName, name),
				Lent: refersToLentIdentity(spec.IdentityRef, obj)}, nil
		}
		azureCluster := &infrav1.AzureCluster{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: cluster.Spec.InfrastructureRef.Name},
			azureCluster); err != nil {
			return Placement{}, fmt.Errorf("get the AzureCluster: %w", err)
		}
		spec := azureCluster.Spec
		return Placement{SubscriptionID: spec.SubscriptionID, Group: cmp.Or(spec.ResourceGroup, azureCluster.Name),
			Lent: refersToLentIdentity(spec.IdentityRef, obj)}, nil
	}
}

// lookupForTrusted returns a lookup for a manager that trusts tenants, for which no identity counts as lent.
func lookupForTrusted(lookup PlacementLookup) PlacementLookup {
	return func(ctx context.Context, obj client.Object) (Placement, error) {
		found, err := lookup(ctx, obj)
		found.Lent = false
		return found, err
	}
}

func refersToLentIdentity(ref *corev1.ObjectReference, obj client.Object) bool {
	return ref != nil && cmp.Or(ref.Namespace, obj.GetNamespace()) != obj.GetNamespace()
}

// needsSubscription returns true if defaults depend on the subscription.
func needsSubscription(spec infrav1.ManagedIdentities) bool {
	role := spec.SystemAssignedIdentityRole
	return spec.Identity == infrav1.VMIdentitySystemAssigned && (role == nil || role.Scope == "" || role.DefinitionID == "")
}
