// Package annotation sets annotations of objects. Controllers keep state there that must survive clusterctl move and backups, which
// drop the status.
package annotation

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set sets the annotations of obj, removes those with an empty value, and reports whether any changed.
func Set(obj metav1.Object, values map[string]string) (changed bool) {
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
