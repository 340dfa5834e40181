package webhook

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// carried are the annotations that record which Azure resources belong to the object. Manifests of users do not have them.
var carried = []string{infrav1.AppliedAnnotation, infrav1.EndpointAnnotation}

// carryMetadata restores metadata that an update leaves out, for example kubectl replace: the provider's annotations, and the label with the name
// of the Cluster, from which Cluster API and defaults find the Cluster. Cluster API sets the label again, but only after the update was admitted.
// An annotation with an empty value removes the stored one. The annotations of v2.0.0-alpha are restored until the object has the one that
// replaces them.
func carryMetadata(ctx context.Context, obj client.Object) {
	old := &metav1.PartialObjectMetadata{}
	if !isUpdateOf(ctx, old) {
		return
	}
	labels := obj.GetLabels()
	if cluster, had := old.Labels[clusterv1.ClusterNameLabel]; had && labels[clusterv1.ClusterNameLabel] == "" {
		if labels == nil {
			labels = map[string]string{}
		}
		labels[clusterv1.ClusterNameLabel] = cluster
		obj.SetLabels(labels)
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
