package deletion

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/annotation"
)

// nothingLeftAnnotation is on an object whose deletion in Azure is complete. It is stored before the identity is released,
// because from then on Azure can perhaps not be asked any more.
const nothingLeftAnnotation = "sigs.k8s.io/cluster-api-provider-azure-nothing-left"

// NothingLeft tells whether nothing of an object that is being deleted is in Azure any more.
func NothingLeft(obj client.Object) bool {
	return !obj.GetDeletionTimestamp().IsZero() && obj.GetAnnotations()[nothingLeftAnnotation] != ""
}

// markNothingLeft notes it, and tells whether that is to be stored.
func markNothingLeft(obj client.Object) (changed bool) {
	return annotation.Set(obj, map[string]string{nothingLeftAnnotation: "true"})
}

// RecordAbandoned tells in an event and in the log that obj goes although nobody can say whether azure, what it may have in Azure,
// is gone, and why.
func RecordAbandoned(ctx context.Context, recorder events.EventRecorder, obj client.Object, why, azure string) {
	ctrl.LoggerFrom(ctx).Info("let go without deleting in Azure", "why", why, "azure", azure)
	recorder.Eventf(obj, nil, corev1.EventTypeWarning, infrav1.LeftBehindInAzureReason, "Delete", "%s: it goes without anything being deleted in Azure. Look there for %s", why, azure)
}
