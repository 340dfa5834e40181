package managed

import (
	"context"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
)

// Open gives access to Azure as the identity of a control plane, for it and its pools. With preview features on, it speaks
// the preview api-version about the cluster and its pools.
func Open(ctx context.Context, gate *access.Gate, controlPlane *infrav1.AzureManagedControlPlane) (*access.Access, error) {
	spec := controlPlane.Spec
	opened, err := gate.Open(ctx, access.Request{
		Ref: spec.IdentityRef, Namespace: controlPlane.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	})
	if err != nil {
		return nil, err
	}
	if enabled := spec.EnablePreviewFeatures; enabled != nil && *enabled {
		opened.Client = opened.Client.WithAPIVersion(types.ManagedCluster, types.ContainerServicePreviewAPIVersion)
	}
	return opened, nil
}
