package prepareupgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

const (
	// providerFieldManager is the field manager with which the established provider applies manifests, and sets the policy skip
	// while a Cluster is paused.
	providerFieldManager = "capz-manager"
	// commandFieldManager is the field manager of this command. A repetition after an interruption recognizes its own annotation by
	// it.
	commandFieldManager = "adopt-prepare-upgrade"
)

// FindMissingAnnotations returns the annotations on the operator's objects that their manifests lack. Adoption by the established
// provider, for example, leaves the credential only on the operator's object.
func FindMissingAnnotations(ctx context.Context, c client.Reader, objects []metav1.PartialObjectMetadata) ([]string, error) {
	declared, err := listManifests(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, object := range objects {
		for _, d := range declared.find(object) {
			for _, key := range []string{asoresource.CredentialAnnotation, asoresource.PolicyAnnotation} {
				value := object.Annotations[key]
				if value == "" || value == d.Annotations[key] || value == asoresource.PolicyManage && d.Annotations[key] == "" ||
					isAppliedAnnotation(object, key) {
					continue
				}
				out = append(out, fmt.Sprintf("namespace %s, %s: %s of %s lacks the annotation %s: %s of its object", object.Namespace, d.DeclaredIn, d,
					d.Path, key, value))
			}
		}
	}
	return out, nil
}

// IsChanged reports whether this command has set the policy of an object.
func IsChanged(object metav1.PartialObjectMetadata) bool {
	return isSetBy(object, asoresource.PolicyAnnotation, commandFieldManager)
}

// isAppliedAnnotation reports whether the established provider or this command has set an annotation.
func isAppliedAnnotation(object metav1.PartialObjectMetadata, key string) bool {
	return isSetBy(object, key, providerFieldManager) || isSetBy(object, key, commandFieldManager)
}

// isSetBy reports whether a field manager has set an annotation.
func isSetBy(object metav1.PartialObjectMetadata, key, manager string) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.FieldsV1 != nil &&
			strings.Contains(entry.FieldsV1.GetRawString(), `"f:`+key+`"`)
	})
}
