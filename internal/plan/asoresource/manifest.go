package asoresource

import (
	"encoding/json"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// Manifest is one resource manifest.
type Manifest struct {
	// DeclaredIn is the key of the object whose spec.resources contains the manifest, as in "AzureASOManagedCluster/c1". Path is the
	// manifest's place in it.
	DeclaredIn string
	Path       *field.Path

	Group, Version, Kind, Name string
	// Namespace is metadata.namespace, nil if unset. It has no effect.
	Namespace   any
	Annotations map[string]string
	// Spec is the decoded spec.
	Spec map[string]any

	// position is the manifest's place in its Set, from 1 on. It is 0 for a manifest in no Set.
	position int
}

// String returns kind and name.
func (m Manifest) String() string { return m.Kind + " " + m.Name }

// manifestHeader is a manifest with its spec undecoded.
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

// ReadManifests returns the manifests of an object that are resources of Azure. Manifests with errors in their identification are
// left out.
func ReadManifests(declaredIn string, resources []runtime.RawExtension) ([]Manifest, field.ErrorList) {
	var out []Manifest
	var errs field.ErrorList
	seen := map[string]int{}
	for i, raw := range resources {
		if isPlainObject(raw.Raw) {
			continue
		}
		path := field.NewPath("spec", "resources").Index(i)
		manifest, wrong := readManifest(raw.Raw, path)
		manifest.DeclaredIn = declaredIn
		if len(wrong) > 0 {
			errs = append(errs, wrong...)
			continue
		}
		key := manifest.Key()
		if first, twice := seen[key]; twice {
			errs = append(errs, field.Duplicate(path, manifest.String()+", which is also resources["+strconv.Itoa(first)+"]"))
			continue
		}
		seen[key] = i
		out = append(out, manifest)
	}
	return out, errs
}

// Key identifies a manifest in its object. The version is not part of it.
func (m Manifest) Key() string { return m.Group + "/" + m.Kind + "/" + m.Name }

func readManifest(raw []byte, path *field.Path) (Manifest, field.ErrorList) {
	var h manifestHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return Manifest{}, findWrongTypes(raw, path, &h)
	}
	var errs field.ErrorList
	version, err := schema.ParseGroupVersion(h.APIVersion)
	out := Manifest{Path: path, Group: version.Group, Version: version.Version, Kind: h.Kind, Name: h.Metadata.Name,
		Namespace: h.Metadata.Namespace, Annotations: h.Metadata.Annotations, Spec: map[string]any{}}
	if err != nil || version.Group == "" || version.Version == "" {
		errs = append(errs, field.Required(path.Child("apiVersion"),
			"a group of the Azure Service Operator and a version, such as containerservice.azure.com/v1api20250801"))
	}
	if h.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), "the kind of the manifest, such as ManagedCluster"))
	}
	if h.Metadata.Name == "" {
		errs = append(errs, field.Required(path.Child("metadata", "name"), "other manifests name it as their owner by this name"))
	}
	if len(h.Spec) > 0 && json.Unmarshal(h.Spec, &out.Spec) != nil || out.Spec == nil {
		errs = append(errs, field.Invalid(path.Child("spec"), "", "must be of type object"))
	}
	if len(errs) > 0 {
		return out, errs
	}
	return out, checkKindAndAnnotations(out)
}

// findWrongTypes returns the fields of a manifest that cannot be decoded.
func findWrongTypes(raw []byte, path *field.Path, into any) field.ErrorList {
	var content any
	if json.Unmarshal(raw, &content) == nil {
		if errs := userinput.FindWrongTypes(content, path, into); len(errs) > 0 {
			return errs
		}
	}
	return field.ErrorList{field.Invalid(path, "", "is not a resource manifest: it needs apiVersion, kind, metadata with a name, and spec")}
}

// checkKindAndAnnotations returns the errors in kind, version and annotations.
func checkKindAndAnnotations(m Manifest) field.ErrorList {
	resourceType, ok := m.ResourceType()
	if !ok && !strings.HasSuffix(m.Group, aso.GroupSuffix) {
		return field.ErrorList{field.Invalid(m.Path.Child("kind"), m.Kind,
			"is not a kind of Azure. To apply the manifest as an object of Kubernetes, set its annotation "+PlainObjectAnnotation+": \"true\" and give the manager the right to write such objects.")}
	}
	if !ok {
		return field.ErrorList{newUnknownKindError(m)}
	}
	if why := lent.UnboundedReason(resourceType); why != "" && !aso.IsUndefined(resourceType) {
		return field.ErrorList{field.Forbidden(m.Path.Child("kind"),
			"a "+m.Kind+" changes resources without a manifest: "+why+". Write a manifest for each resource.")}
	}
	var errs field.ErrorList
	if _, ok := m.APIVersion(); !ok {
		message := "has no version of Azure's API, such as v1api20250801 or v20251002preview"
		if known := aso.KnownVersions(resourceType); len(known) > 0 {
			message += "; known versions of " + resourceType + ": " + strings.Join(known, ", ")
		}
		errs = append(errs, field.Invalid(m.Path.Child("apiVersion"), m.Group+"/"+m.Version, message))
	}
	switch policy := m.Annotations[PolicyAnnotation]; policy {
	case "", PolicyManage, PolicySkip, PolicyDetach:
	default:
		errs = append(errs, field.NotSupported(m.Path.Child("metadata", "annotations").Key(PolicyAnnotation), policy,
			[]string{PolicyManage, PolicySkip, PolicyDetach}))
	}
	if name := m.Annotations[CredentialAnnotation]; name != "" {
		if wrong := aso.CheckObjectName(m.Path.Child("metadata", "annotations").Key(CredentialAnnotation), "Secret", name); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	return errs
}
