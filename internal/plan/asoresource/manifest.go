package asoresource

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
)

// Manifest is one document.
type Manifest struct {
	// DeclaredIn is the object that has the document, as in "AzureASOManagedCluster/c1", and Path the document's place in it.
	DeclaredIn string
	Path       *field.Path

	Group, Version, Kind, Name string
	// Namespace is metadata.namespace, nil if it is left out. It has no effect.
	Namespace   any
	Annotations map[string]string
	// Spec is the decoded spec.
	Spec map[string]any

	// position is the document's place in its Set, from 1 on. It is 0 in none.
	position int
}

// String names the document.
func (d Manifest) String() string { return d.Kind + " " + d.Name }

// manifestHeader is what a document has beside its spec.
type manifestHeader struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name        string            `json:"name"`
		Namespace   any               `json:"namespace"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// ReadManifests reads the documents of an object that are resources of Azure. Those with something wrong in what identifies them are left out.
func ReadManifests(holder string, resources []runtime.RawExtension) ([]Manifest, field.ErrorList) {
	var out []Manifest
	var errs field.ErrorList
	seen := map[string]int{}
	for i, raw := range resources {
		if isPlainObject(raw.Raw) {
			continue
		}
		path := field.NewPath("spec", "resources").Index(i)
		document, wrong := readManifest(raw.Raw, path)
		document.DeclaredIn = holder
		if len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		key := document.Key()
		if first, twice := seen[key]; twice {
			errs = append(errs, field.Duplicate(path, document.String()+", which is resources["+formatInt(first)+"], too"))
			continue
		}
		seen[key] = i
		out = append(out, document)
	}
	return out, errs
}

// Key tells documents of an object apart; versions do not.
func (d Manifest) Key() string { return d.Group + "/" + d.Kind + "/" + d.Name }

func readManifest(raw []byte, path *field.Path) (Manifest, field.ErrorList) {
	var h manifestHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return Manifest{}, field.ErrorList{field.Invalid(path, "", "is no document: it has apiVersion, kind, metadata with a name, and spec")}
	}
	var errs field.ErrorList
	version, err := schema.ParseGroupVersion(h.APIVersion)
	out := Manifest{Path: path, Group: version.Group, Version: version.Version, Kind: h.Kind, Name: h.Metadata.Name, Namespace: h.Metadata.Namespace, Annotations: h.Metadata.Annotations, Spec: map[string]any{}}
	if err != nil || version.Group == "" || version.Version == "" {
		errs = append(errs, field.Required(path.Child("apiVersion"), "a group of the Azure Service Operator and a version, as in containerservice.azure.com/v1api20250801"))
	}
	if h.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), "the kind of the document, as in ManagedCluster"))
	}
	if h.Metadata.Name == "" {
		errs = append(errs, field.Required(path.Child("metadata", "name"), "other documents name it as their owner by this name"))
	}
	if len(h.Spec) > 0 && json.Unmarshal(h.Spec, &out.Spec) != nil || out.Spec == nil {
		errs = append(errs, field.Invalid(path.Child("spec"), "", "must be an object"))
	}
	if len(errs) > 0 {
		return out, errs
	}
	return out, checkKindAndAnnotations(out)
}

// checkKindAndAnnotations finds what is wrong with kind, version and annotations.
func checkKindAndAnnotations(d Manifest) field.ErrorList {
	resourceType, ok := d.ResourceType()
	if !ok && !strings.HasSuffix(d.Group, groupSuffix) {
		return field.ErrorList{field.Invalid(d.Path.Child("kind"), d.Kind,
			"is no kind of Azure; the annotation "+PlainObjectAnnotation+": \"true\" on the document has it applied as an object of Kubernetes, where the manager has the right to")}
	}
	if !ok {
		return field.ErrorList{field.NotSupported(d.Path.Child("kind"), d.Kind, findNearestKinds(d))}
	}
	if why := lent.ReachesAnything(resourceType); why != "" {
		return field.ErrorList{field.Forbidden(d.Path.Child("kind"), "a "+d.Kind+" changes resources that no document names: "+why+". Write a document for each resource")}
	}
	var errs field.ErrorList
	if _, ok := d.APIVersion(); !ok {
		errs = append(errs, field.Invalid(d.Path.Child("apiVersion"), d.Group+"/"+d.Version,
			"the version is not a date of Azure's API, as in v1api20250801 or v20251002preview; known for "+resourceType+": "+strings.Join(knownVersions(resourceType), ", ")))
	}
	switch policy := d.Annotations[PolicyAnnotation]; policy {
	case "", PolicyManage, PolicySkip, PolicyDetach:
	default:
		errs = append(errs, field.NotSupported(d.Path.Child("metadata", "annotations").Key(PolicyAnnotation), policy, []string{PolicyManage, PolicySkip, PolicyDetach}))
	}
	if name := d.Annotations[CredentialAnnotation]; name != "" {
		if wrong := checkObjectName(d.Path.Child("metadata", "annotations").Key(CredentialAnnotation), "Secret", name); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	return errs
}
