package managed

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

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

// SentValue is the annotation of obj for the paths of all lists.
func SentValue(obj client.Object, lists ...[]string) string {
	paths := slices.Compact(slices.Sorted(slices.Values(slices.Concat(lists...))))
	if slices.Equal(paths, Sent(obj)) {
		return obj.GetAnnotations()[SentAnnotation]
	}
	raw, _ := json.Marshal(paths) // A list of strings always marshals.
	return string(raw)
}
