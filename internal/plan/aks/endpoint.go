package aks

import (
	"fmt"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
)

// FormatEndpoint is an endpoint as EndpointAnnotation has it.
func FormatEndpoint(endpoint infrav1.APIEndpoint) string {
	return fmt.Sprintf("%s:%d", endpoint.Host, endpoint.Port)
}

// HasManagedEndpoint tells whether the endpoint of a control plane was written by its manager and not by a user: it is the one
// that was read from AKS, or others manage the object.
func HasManagedEndpoint(controlPlane *infrav1.AzureManagedControlPlane) bool {
	endpoint, annotations := controlPlane.Spec.ControlPlaneEndpoint, controlPlane.Annotations
	if _, others := annotations[clusterv1.ManagedByAnnotation]; others {
		return endpoint.Host != ""
	}
	return endpoint.Host != "" && annotations[infrav1.EndpointAnnotation] == FormatEndpoint(endpoint)
}

// HasEndpoint tells whether AKS has given the control plane its endpoint. One of a user counts neither as readiness nor as proof
// that a cluster exists. The established provider overwrites it, too, so the endpoint of an object with a finalizer of that
// provider counts.
func HasEndpoint(controlPlane *infrav1.AzureManagedControlPlane) bool {
	if HasManagedEndpoint(controlPlane) {
		return true
	}
	former := slices.Contains(controlPlane.Finalizers, infrav1.ManagedControlPlaneFinalizer) && controlPlane.Annotations[infrav1.TakenOverAnnotation] != takenover.New
	return controlPlane.Spec.ControlPlaneEndpoint.Host != "" && (former || controlPlane.Status.Ready || controlPlane.Status.Initialized)
}
