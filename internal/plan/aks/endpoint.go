package aks

import (
	"fmt"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// FormatEndpoint returns an endpoint in the format of EndpointAnnotation.
func FormatEndpoint(endpoint infrav1.APIEndpoint) string {
	return fmt.Sprintf("%s:%d", endpoint.Host, endpoint.Port)
}

// HasManagedEndpoint reports whether the manager of a control plane, not a user, wrote its endpoint: the endpoint equals the one
// read from AKS, or another manager reconciles the object.
func HasManagedEndpoint(controlPlane *infrav1.AzureManagedControlPlane) bool {
	endpoint, annotations := controlPlane.Spec.ControlPlaneEndpoint, controlPlane.Annotations
	if _, others := annotations[clusterv1.ManagedByAnnotation]; others {
		return endpoint.Host != ""
	}
	return endpoint.Host != "" && annotations[infrav1.EndpointAnnotation] == FormatEndpoint(endpoint)
}

// HasEndpoint reports whether the control plane has the endpoint of AKS. An endpoint written by a user proves neither readiness nor
// the existence of a cluster. The established provider overwrites such an endpoint, too, so the endpoint of an object with the
// finalizer of that provider counts.
func HasEndpoint(controlPlane *infrav1.AzureManagedControlPlane) bool {
	if HasManagedEndpoint(controlPlane) {
		return true
	}
	former := slices.Contains(controlPlane.Finalizers, infrav1.ManagedControlPlaneFinalizer) && controlPlane.Annotations[infrav1.TakenOverAnnotation] != applied.CreatedHere
	return controlPlane.Spec.ControlPlaneEndpoint.Host != "" && (former || controlPlane.Status.Ready || controlPlane.Status.Initialized)
}
