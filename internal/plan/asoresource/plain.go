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
)

// PlainAnnotation is "true" on a document that is no resource of Azure: it is applied as the object of Kubernetes that it is.
const PlainAnnotation = "infrastructure.cluster.x-k8s.io/plain-object"

// Plain is such a document.
type Plain struct {
	Path *field.Path

	schema.GroupVersionKind
	Name string
	// Object is what is applied: the document without the annotation.
	Object map[string]any
}

// String names the document.
func (p Plain) String() string { return p.Kind + " " + p.Name }

// Protected tells whether objects of a group are never applied: those of Kubernetes and its projects, Cluster API and ours among
// them, could give whoever writes documents what is not theirs. Groups of Kubernetes have no dot, or end as its rules for
// the names of groups say. https://kubernetes.io/docs/reference/using-api/#api-groups
func Protected(group string) bool {
	group = strings.ToLower(strings.TrimRight(group, "."))
	return !strings.Contains(group, ".") || group == "k8s.io" || group == "x-k8s.io" || strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, ".x-k8s.io")
}

// Plains reads the documents of an object in a namespace that are applied as objects of Kubernetes. A namespace "" is not known
// yet.
func Plains(namespace string, resources []runtime.RawExtension) ([]Plain, field.ErrorList) {
	var out []Plain
	var errs field.ErrorList
	seen := map[schema.GroupKind][]string{}
	for i, raw := range resources {
		if !asksPlain(raw.Raw) {
			continue
		}
		path := field.NewPath("spec", "resources").Index(i)
		plain, wrong := readPlain(raw.Raw, path, namespace)
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

func asksPlain(raw []byte) bool {
	var h header
	return json.Unmarshal(raw, &h) == nil && h.Metadata.Annotations[PlainAnnotation] == "true"
}

// carried are the fields of metadata that are applied. Others belong to the API server, or keep an object from going.
var carried = []string{"annotations", "labels", "name", "namespace"}

func readPlain(raw []byte, path *field.Path, namespace string) (Plain, field.ErrorList) {
	out := Plain{Path: path}
	if err := json.Unmarshal(raw, &out.Object); err != nil {
		return out, field.ErrorList{field.Invalid(path, "", "is no object")}
	}
	var errs field.ErrorList
	apiVersion, _ := out.Object["apiVersion"].(string)
	version, err := schema.ParseGroupVersion(apiVersion)
	out.GroupVersionKind = version.WithKind("")
	out.Kind, _ = out.Object["kind"].(string)
	_, azure := Document{Group: out.Group, Kind: out.Kind}.Type()
	switch {
	case err != nil || version.Version == "":
		errs = append(errs, field.Required(path.Child("apiVersion"), "group and version of a kind that the management cluster has"))
	case Protected(out.Group):
		errs = append(errs, field.Forbidden(path.Child("apiVersion"), "objects of Kubernetes, Cluster API and this provider are never made from documents"))
	case out.Kind == "":
		errs = append(errs, field.Required(path.Child("kind"), "the kind of the object"))
	case azure:
		errs = append(errs, field.Forbidden(path.Child("metadata", "annotations").Key(PlainAnnotation), "a "+out.Kind+" is a resource of Azure, which the provider makes itself: leave the annotation out"))
	}
	metadata := object(out.Object["metadata"])
	at := path.Child("metadata")
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !slices.Contains(carried, key) {
			errs = append(errs, field.Forbidden(at.Child(key), "only "+strings.Join(carried, ", ")+" of metadata are applied"))
		}
	}
	if _, ok := out.Object["status"]; ok {
		errs = append(errs, field.Forbidden(path.Child("status"), "is what the controller of the kind says"))
	}
	out.Name, _ = metadata["name"].(string)
	if wrong := validation.IsDNS1123Subdomain(out.Name); len(wrong) > 0 {
		errs = append(errs, field.Invalid(at.Child("name"), out.Name, strings.Join(wrong, "; ")))
	}
	if other, set := metadata["namespace"]; set && (namespace == "" || other != namespace) {
		errs = append(errs, field.Forbidden(at.Child("namespace"), "objects are made in the namespace of the object that has the document: leave it out"))
	}
	delete(object(metadata["annotations"]), PlainAnnotation)
	return out, errs
}
