package webhook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// carried are the annotations that tell what in Azure is the object's, and that no manifest has.
var carried = []string{infrav1.InventoryAnnotation, infrav1.OwnerIDAnnotation, infrav1.TakenOverAnnotation, infrav1.LastAppliedAnnotation, infrav1.EndpointAnnotation}

// carry keeps the annotations of ours that an update leaves out, as kubectl replace with a manifest does. One with an empty value
// takes what was there away.
func carry(ctx context.Context, obj client.Object) {
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
