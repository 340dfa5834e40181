package managed

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// SentAnnotation is where an object has the paths that its plans have sent.
const SentAnnotation = plan.SentAnnotation

// Sent are the paths in the annotation. One that cannot be read names none: then nothing of it is taken back.
func Sent(obj client.Object) []string {
	var paths []string
	if json.Unmarshal([]byte(obj.GetAnnotations()[SentAnnotation]), &paths) != nil {
		return nil
	}
	return paths
}

// SetSent makes the paths of all lists the annotation of obj, and tells whether that changed it.
func SetSent(obj client.Object, lists ...[]string) (changed bool) {
	paths := slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
	if slices.Equal(paths, Sent(obj)) {
		return false
	}
	raw, _ := json.Marshal(paths) // A list of strings always marshals.
	return annotation.Set(obj, map[string]string{SentAnnotation: string(raw)})
}
