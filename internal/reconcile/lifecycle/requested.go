package lifecycle

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ObservedObject is an object with the observed generation in its status.
type ObservedObject interface {
	client.Object
	GetObserved() *infrav1.ObservedStatus
}

// IsReconcileRequested reports whether a user asked for a reconciliation with the annotation and none has finished since. Such a
// reconciliation reads everything again and retries failures at once.
func IsReconcileRequested(obj ObservedObject) bool {
	asked := obj.GetAnnotations()[infrav1.ReconcileRequestedAnnotation]
	return asked != "" && asked != obj.GetObserved().LastHandledReconcileAt
}
