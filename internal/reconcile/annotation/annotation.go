// Package annotation sets annotations of objects. Controllers keep there what must survive clusterctl move and backups,
// which the status does not.
package annotation

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Set gives obj the annotations, takes away those with an empty value, and tells whether that changed any.
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
