package webhook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// carried are the annotations that record which Azure resources belong to the object. Manifests of users do not have them.
var carried = []string{infrav1.InventoryAnnotation, infrav1.OwnerIDAnnotation, infrav1.TakenOverAnnotation, infrav1.LastAppliedAnnotation, infrav1.EndpointAnnotation}

// carryAnnotations restores the provider's annotations that an update leaves out, for example kubectl replace. An annotation with an empty
// value removes the stored one.
func carryAnnotations(ctx context.Context, obj client.Object) {
	old := &metav1.PartialObjectMetadata{}
	if !isUpdateOf(ctx, old) {
		return
	}
	annotations := obj.GetAnnotations()
	for _, key := range carried {
		value, had := old.Annotations[key]
		if _, has := annotations[key]; !had || has {
			continue
		}
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
	}
	obj.SetAnnotations(annotations)
}
