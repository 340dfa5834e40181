package aks

import (
	"k8s.io/apimachinery/pkg/api/meta"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// NothingCreated tells whether nothing of a control plane can be in Azure: no pass has come as far as a plan, neither of this
// provider, which stores it before anything is made, nor of the established one.
func NothingCreated(controlPlane *infrav1.AzureManagedControlPlane) bool {
	if memory.Stored(controlPlane.Annotations) || controlPlane.Annotations[infrav1.InventoryAnnotation] != "" {
		return false
	}
	status := controlPlane.Status
	return !HasEndpoint(controlPlane) && !status.Ready && !status.Initialized &&
		meta.FindStatusCondition(status.Conditions, infrav1.ResourceGroupReadyCondition) == nil
}
