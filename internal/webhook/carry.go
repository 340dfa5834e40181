package webhook

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// carried are the annotations that tell what in Azure is the object's, and that no manifest has.
var carried = []string{infrav1.InventoryAnnotation, infrav1.OwnerIDAnnotation, infrav1.TakenOverAnnotation}

// carry keeps the annotations of ours that an update leaves out, as kubectl replace with a manifest does. One with an empty value
// takes what was there away.
func carry(ctx context.Context, obj client.Object) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil || request.Operation != admissionv1.Update || len(request.OldObject.Raw) == 0 {
		return nil
	}
	var old metav1.PartialObjectMetadata
	if err := json.Unmarshal(request.OldObject.Raw, &old); err != nil {
		return err
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
	return nil
}
