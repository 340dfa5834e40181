package managed

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
)

// Identity asks for the access of a control plane, for it and its pools. With preview features on, it speaks the preview
// api-version about the cluster and its pools.
func Identity(controlPlane *infrav1.AzureManagedControlPlane) access.Request {
	spec := controlPlane.Spec
	request := access.Request{
		Ref: spec.IdentityRef, Namespace: controlPlane.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	}
	if enabled := spec.EnablePreviewFeatures; enabled != nil && *enabled {
		request.APIVersions = map[string]string{types.ManagedCluster: types.ContainerServicePreviewAPIVersion}
	}
	return request
}
