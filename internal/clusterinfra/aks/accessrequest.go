package aks

import (
	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// AccessRequest returns the access request of a control plane and its pools. The api-version that the control plane asks for replaces
// the default.
func AccessRequest(controlPlane *infrav1.AzureManagedControlPlane) access.Request {
	spec := controlPlane.Spec
	request := access.Request{
		IdentityRef: spec.IdentityRef, Namespace: controlPlane.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	}
	if version := aks.APIVersionFor(controlPlane); version != types.ContainerServiceAPIVersion {
		request.APIVersions = map[string]string{types.ManagedCluster: version}
	}
	return request
}
