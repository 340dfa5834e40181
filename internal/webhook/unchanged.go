package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unchanged tells whether an update is beyond reproach: it leaves the spec as it is, or the object is being deleted.
func unchanged[T any](obj metav1.Object, old, spec T) bool {
	return !obj.GetDeletionTimestamp().IsZero() || equality.Semantic.DeepEqual(old, spec)
}
