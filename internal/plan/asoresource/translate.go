package asoresource

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// TranslateManifest returns the body of a manifest, and all errors in the manifest.
func (s Set) TranslateManifest(m Manifest, values *aso.Values) (aso.Body, field.ErrorList) {
	spec := aso.Spec{Kind: m.Kind, Path: m.Path.Child("spec"), Fields: m.Spec}
	if resourceType, _ := m.ResourceType(); aso.IsUndefined(resourceType) {
		return aso.TranslateUnchecked(spec, resourceType, values, s.resolveReference)
	}
	definition, ok := findDefinition(m)
	if !ok {
		return aso.Body{}, field.ErrorList{newUnknownKindError(m)}
	}
	apiVersion, _ := m.APIVersion()
	spec.Unchecked = m.Annotations[UncheckedAnnotation] == "true" && schema.IsNewerThanAll(definition.Type, apiVersion)
	return aso.TranslateSpec(spec, definition, values, s.resolveReference)
}

// resolveReference returns the ID of the resource of a manifest that another one refers to, or the reason to wait for it.
func (s Set) resolveReference(ref aso.ObjectRef, path *field.Path) (id arm.ID, waits string) {
	found, ok := s.findManifest(ref.Group, ref.Kind, ref.Name)
	if !ok {
		return "", fmt.Sprintf("a resource manifest %s %s in the Cluster, which %s names", ref.Kind, ref.Name, path)
	}
	id, err := s.ResourceID(found)
	if err != nil {
		_, waits = toFieldError(err, path)
		return "", waits
	}
	return id, ""
}

func findDefinition(m Manifest) (schema.Definition, bool) {
	resourceType, _ := m.ResourceType()
	apiVersion, _ := m.APIVersion()
	return schema.NearestDefinition(resourceType, apiVersion)
}

// toFieldError returns the error of an ID as a field error, or the reason to wait.
func toFieldError(err error, path *field.Path) (wrong *field.Error, waits string) {
	var waiting WaitingError
	if errors.As(err, &waiting) {
		return nil, waiting.Error()
	}
	if errors.As(err, &wrong) {
		return wrong, ""
	}
	return field.Invalid(path, "", err.Error()), ""
}
