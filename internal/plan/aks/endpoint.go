package aks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// HasEndpoint reports whether the endpoint of AKS is known, as by KnownEndpoint.
func HasEndpoint(controlPlane *infrav1.AzureManagedControlPlane) bool {
	_, ok := KnownEndpoint(controlPlane)
	return ok
}

// KnownEndpoint returns the endpoint of AKS as far as it is known. The annotation has it as AKS returned it, also while spec has one that a
// user wrote, for example by a second apply of a manifest in an installation without webhooks. An endpoint written by a user proves
// neither readiness nor the existence of a cluster. The established provider overwrites such an endpoint, too, so the endpoint of an
// object with the finalizer of that provider counts.
func KnownEndpoint(controlPlane *infrav1.AzureManagedControlPlane) (infrav1.APIEndpoint, bool) {
	inSpec := controlPlane.Spec.ControlPlaneEndpoint
	if HasManagedEndpoint(controlPlane) {
		return inSpec, true
	}
	if _, others := controlPlane.Annotations[clusterv1.ManagedByAnnotation]; others {
		return infrav1.APIEndpoint{}, false
	}
	if endpoint, ok := parseEndpoint(controlPlane.Annotations[infrav1.EndpointAnnotation]); ok {
		return endpoint, true
	}
	former := slices.Contains(controlPlane.Finalizers, infrav1.ManagedControlPlaneFinalizer) &&
		!applied.ReadDifferences(controlPlane.Annotations).IsCreatedHere()
	if inSpec.Host != "" && (former || controlPlane.Status.Ready || controlPlane.Status.Initialized) {
		return inSpec, true
	}
	return infrav1.APIEndpoint{}, false
}

// parseEndpoint reads an endpoint in the format of EndpointAnnotation. Users can write annotations, so the result is bounded.
func parseEndpoint(text string) (infrav1.APIEndpoint, bool) {
	host, portText, ok := strings.Cut(text, ":")
	port, err := strconv.ParseUint(portText, 10, 16)
	if !ok || err != nil || port == 0 || host == "" || len(host) > maxHostLength || strings.ContainsAny(host, "/ \t\n") {
		return infrav1.APIEndpoint{}, false
	}
	return infrav1.APIEndpoint{Host: host, Port: int32(port)}, true
}

// maxHostLength is the length of the longest DNS name.
const maxHostLength = 253
