package applied

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestReturnedObject checks that an object which returned to the established provider with its owner ID alone is migrated again like one
// that this provider has never reconciled, and keeps its owner tag.
func TestReturnedObject(t *testing.T) {
	object := &metav1.ObjectMeta{Annotations: map[string]string{infrav1.LastAppliedScaleSetTagsAnnotation: `{"team":"a"}`}}
	Content{OwnerID: "id"}.Store(object)
	differences := ReadDifferences(object.Annotations)
	if differences.IsCreatedHere() || !differences.firstReconciliation {
		t.Errorf("the object does not count as one of the established provider: %+v", differences)
	}
	if Read(object.Annotations).Applied != nil || !hasEstablished(object.Annotations) {
		t.Errorf("the record of the established provider is not read: %v", object.Annotations)
	}
	if got := ReadOwnerID(object.Annotations); got != "id" {
		t.Errorf("the owner ID is %q", got)
	}
}
