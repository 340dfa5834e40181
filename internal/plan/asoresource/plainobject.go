package asoresource

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// PlainObjectAnnotation is "true" on a manifest that is not a resource of Azure. It is applied as an object of Kubernetes.
const PlainObjectAnnotation = "infrastructure.cluster.x-k8s.io/plain-object"

// PlainObject is such a manifest.
type PlainObject struct {
	Path *field.Path

	schema.GroupVersionKind
	Name string
	// Object is the object to apply: the manifest without the annotation.
	Object map[string]any
}

// String returns kind and name.
func (p PlainObject) String() string { return p.Kind + " " + p.Name }

// IsProtectedGroup reports whether objects of a group are never applied. Objects of Kubernetes and its projects, including Cluster
// API and this provider, could give the author of a manifest rights of others. Groups of Kubernetes have no dot or end in k8s.io or
// x-k8s.io. https://kubernetes.io/docs/reference/using-api/#api-groups
func IsProtectedGroup(group string) bool {
	group = strings.ToLower(strings.TrimRight(group, "."))
	return !strings.Contains(group, ".") || group == "k8s.io" || group == "x-k8s.io" || strings.HasSuffix(group, ".k8s.io") ||
		strings.HasSuffix(group, ".x-k8s.io")
}

// ReadPlainObjects returns the manifests of an object that are applied as objects of Kubernetes. The namespace is "" if it is not
// known yet.
func ReadPlainObjects(namespace string, resources []runtime.RawExtension) ([]PlainObject, field.ErrorList) {
	var out []PlainObject
	var errs field.ErrorList
	seen := map[schema.GroupKind][]string{}
	for i, raw := range resources {
		if !isPlainObject(raw.Raw) {
			continue
		}
		path := field.NewPath("spec", "resources").Index(i)
		plain, wrong := readPlainObject(raw.Raw, path, namespace)
		if slices.Contains(seen[plain.GroupKind()], plain.Name) {
			wrong = append(wrong, field.Duplicate(path, plain.String()))
		}
		seen[plain.GroupKind()] = append(seen[plain.GroupKind()], plain.Name)
		if len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		out = append(out, plain)
	}
	return out, errs
}

func isPlainObject(raw []byte) bool {
	var h manifestHeader
	return json.Unmarshal(raw, &h) == nil && h.Metadata.Annotations[PlainObjectAnnotation] == "true"
}

// appliedMetadata are the fields of metadata that are applied. Others are set by the API server or prevent the deletion of an
// object.
var appliedMetadata = []string{"annotations", "labels", "name", "namespace"}

func readPlainObject(raw []byte, path *field.Path, namespace string) (PlainObject, field.ErrorList) {
	out := PlainObject{Path: path}
	if err := json.Unmarshal(raw, &out.Object); err != nil {
		return out, findWrongTypes(raw, path, &out.Object)
	}
	var errs field.ErrorList
	apiVersion, _ := out.Object["apiVersion"].(string)
	version, err := schema.ParseGroupVersion(apiVersion)
	out.GroupVersionKind = version.WithKind("")
	out.Kind, _ = out.Object["kind"].(string)
	resourceType, azure := aso.ResourceTypeOf(out.Group, out.Kind)
	switch {
	case err != nil || version.Version == "":
		errs = append(errs, field.Required(path.Child("apiVersion"), "the group and version of a kind of the management cluster"))
	case IsProtectedGroup(out.Group):
		errs = append(errs, field.Forbidden(path.Child("apiVersion"),
			"must not be a group of Kubernetes, Cluster API or this provider: manifests cannot create their objects"))
	case out.Kind == "":
		errs = append(errs, field.Required(path.Child("kind"), "the kind of the object"))
	case azure && !aso.IsUndefined(resourceType):
		errs = append(errs, field.Forbidden(path.Child("metadata", "annotations").Key(PlainObjectAnnotation),
			"a "+out.Kind+" is a resource of Azure, which the provider creates itself. Leave the annotation out."))
	}
	metadata := toObject(out.Object["metadata"])
	at := path.Child("metadata")
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !slices.Contains(appliedMetadata, key) {
			errs = append(errs, field.Forbidden(at.Child(key), "only "+strings.Join(appliedMetadata, ", ")+" of metadata are applied"))
		}
	}
	if _, ok := out.Object["status"]; ok {
		errs = append(errs, field.Forbidden(path.Child("status"), "must not be set: only the controller of the kind sets it"))
	}
	out.Name, _ = metadata["name"].(string)
	if wrong := validation.IsDNS1123Subdomain(out.Name); len(wrong) > 0 {
		errs = append(errs, field.Invalid(at.Child("name"), out.Name, strings.Join(wrong, "; ")))
	}
	if other, set := metadata["namespace"]; set && (namespace == "" || other != namespace) {
		errs = append(errs, field.Forbidden(at.Child("namespace"),
			"must not be set. Objects are created in the namespace of the object with the manifest."))
	}
	delete(toObject(metadata["annotations"]), PlainObjectAnnotation)
	return out, errs
}
