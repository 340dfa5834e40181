package managed

import (
	"k8s.io/apimachinery/pkg/api/meta"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// SentAnnotation is a JSON list of the paths of the Azure resource that plans of the object have sent: what is in it and
// no longer planned is taken back. It survives clusterctl move and backups, which status does not.
const SentAnnotation = "sigs.k8s.io/cluster-api-provider-azure-sent"

// Untouched tells whether nothing of a control plane can be in Azure: no pass has come as far as a plan, neither of this
// provider, which stores it before anything is made, nor of the established one.
func Untouched(controlPlane *infrav1.AzureManagedControlPlane) bool {
	for _, annotation := range []string{SentAnnotation, PlannedAnnotation, infrav1.InventoryAnnotation} {
		if controlPlane.Annotations[annotation] != "" {
			return false
		}
	}
	status := controlPlane.Status
	return controlPlane.Spec.ControlPlaneEndpoint.Host == "" && !status.Ready && !status.Initialized &&
		meta.FindStatusCondition(status.Conditions, infrav1.ResourceGroupReadyCondition) == nil
}
