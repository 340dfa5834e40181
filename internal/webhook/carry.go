package webhook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// carried are the annotations that record which Azure resources belong to the object. Manifests of users do not have them.
var carried = []string{infrav1.AppliedAnnotation, infrav1.EndpointAnnotation}

// carryAnnotations restores the provider's annotations that an update leaves out, for example kubectl replace. An annotation with an empty
// value removes the stored one. The annotations of v2.0.0-alpha are restored until the object has the one that replaces them.
func carryAnnotations(ctx context.Context, obj client.Object) {
	old := &metav1.PartialObjectMetadata{}
	if !isUpdateOf(ctx, old) {
		return
	}
	annotations := obj.GetAnnotations()
	keys := carried
	if _, replaced := annotations[infrav1.AppliedAnnotation]; !replaced {
		keys = append(applied.FormerKeys(), carried...)
	}
	for _, key := range keys {
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
