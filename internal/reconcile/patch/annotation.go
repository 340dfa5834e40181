package patch

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SetAnnotations sets annotations of obj, removes those with an empty value, and reports whether any changed. Controllers keep state in
// annotations that must survive clusterctl move and backups, which drop the status.
func SetAnnotations(obj metav1.Object, values map[string]string) (changed bool) {
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key, value := range values {
		if annotations[key] == value {
			continue
		}
		changed = true
		annotations[key] = value
		if value == "" {
			delete(annotations, key)
		}
	}
	if changed {
		obj.SetAnnotations(annotations)
	}
	return changed
}
