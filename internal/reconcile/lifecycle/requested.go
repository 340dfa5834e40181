package lifecycle

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ObservedObject is an object whose status says what of it was looked at.
type ObservedObject interface {
	client.Object
	GetObserved() *infrav1.ObservedStatus
}

// IsReconcileRequested tells whether somebody has asked for a pass by the annotation and none has come to its end since: such a pass
// looks at everything anew and tries again what would not be due yet.
func IsReconcileRequested(obj ObservedObject) bool {
	asked := obj.GetAnnotations()[infrav1.ReconcileRequestedAnnotation]
	return asked != "" && asked != obj.GetObserved().LastHandledReconcileAt
}
