package managed

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
)

// SentAnnotation is a JSON list of the paths of the Azure resource that plans of the object have sent: what is in it and
// no longer planned is taken back. It survives clusterctl move and backups, which status does not.
const SentAnnotation = "sigs.k8s.io/cluster-api-provider-azure-sent"

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
