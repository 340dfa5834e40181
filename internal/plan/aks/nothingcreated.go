package aks

import (
	"k8s.io/apimachinery/pkg/api/meta"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// NothingCreated reports whether no resource of the control plane can exist in Azure: neither this provider, which stores the plan
// before it creates anything, nor the established provider has planned it.
func NothingCreated(controlPlane *infrav1.AzureManagedControlPlane) bool {
	if applied.IsStored(controlPlane.Annotations) {
		return false
	}
	status := controlPlane.Status
	return !HasEndpoint(controlPlane) && !status.Ready && !status.Initialized &&
		meta.FindStatusCondition(status.Conditions, infrav1.ResourceGroupReadyCondition) == nil
}
