package deletion

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// nothingLeftAnnotation marks an object whose deletion in Azure is complete. It is stored before the identity is released, because
// Azure may not accept requests after that. Its value is the UID of the object: a backup or a move of the object keeps the annotation, and
// the object that is created from it has another UID, and resources of its own.
const nothingLeftAnnotation = "sigs.k8s.io/cluster-api-provider-azure-nothing-left"

// NothingLeft reports whether an object that is being deleted has nothing left in Azure.
func NothingLeft(obj client.Object) bool {
	marked := obj.GetAnnotations()[nothingLeftAnnotation]
	return !obj.GetDeletionTimestamp().IsZero() && marked != "" && marked == string(obj.GetUID())
}

// markNothingLeft sets the annotation, and reports whether it has to be stored.
func markNothingLeft(obj client.Object) (changed bool) {
	return patch.SetAnnotations(obj, map[string]string{nothingLeftAnnotation: string(obj.GetUID())})
}

// RecordAbandoned emits an event and a log line for an object that goes although its resources in Azure, which azure describes, may
// remain. why gives the cause.
func RecordAbandoned(ctx context.Context, recorder events.EventRecorder, obj client.Object, why, azure string) {
	ctrl.LoggerFrom(ctx).Info("Removed finalizers without deleting in Azure", "cause", why, "azure", azure)
	recorder.Eventf(obj, nil, corev1.EventTypeWarning, infrav1.LeftBehindInAzureReason, "Delete", "%s",
		text.JoinSentences(why, "The object is removed without deleting anything in Azure. Check Azure for "+azure))
}
