package asoresource

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// ValidateManifests finds what is wrong with the documents of an object of a namespace whatever the other objects of the Cluster have. needs
// is the resource type of which there has to be one, "" for none, and version spec.version.
func ValidateManifests(namespace string, resources []runtime.RawExtension, needs, version string) field.ErrorList {
	documents, errs := ReadManifests("", resources)
	plains, wrong := ReadPlainObjects(namespace, resources)
	errs = append(errs, wrong...)
	in := Input{Owner: &metav1.ObjectMeta{}, Object: &metav1.ObjectMeta{}, Set: NewSet("", documents, false), Version: version}
	errs = append(errs, CheckManifests(in)...)
	errs = append(errs, CheckCredentials(documents)...)
	for _, d := range documents {
		errs = append(errs, checkOperatorSpec(d)...)
		if hasNamespace(d.Spec["owner"]) {
			errs = append(errs, newNamespaceError(d.Path.Child("spec", "owner")))
		}
	}
	if _, ok := in.FirstOfType("", needs); needs != "" && !ok && len(documents)+len(plains) == len(resources) {
		group, kind := GroupKindOf(needs)
		errs = append(errs, field.Required(field.NewPath("spec", "resources"), "a document of kind "+kind+", group "+group))
	}
	return errs
}

// CheckCredentials refuses documents of one object that name different credentials: one pass asks Azure as one identity.
func CheckCredentials(documents []Manifest) field.ErrorList {
	var errs field.ErrorList
	chosen := ""
	for _, d := range documents {
		name := d.Annotations[CredentialAnnotation]
		switch {
		case chosen == "":
			chosen = name
		case name != "" && name != chosen:
			errs = append(errs, field.Invalid(d.Path.Child("metadata", "annotations").Key(CredentialAnnotation), name,
				"another document of the object names "+chosen+": documents of one object have one credential"))
		}
	}
	return errs
}

// ValidateUpdate refuses changes of what says where the resources of documents are: those would be other resources.
func ValidateUpdate(before, after []runtime.RawExtension) field.ErrorList {
	was := map[string]Manifest{}
	old, _ := ReadManifests("", before)
	for _, d := range old {
		was[d.Key()] = d
	}
	documents, _ := ReadManifests("", after)
	var errs field.ErrorList
	for _, d := range documents {
		stored, ok := was[d.Key()]
		if !ok {
			continue
		}
		if stored.AzureName() != d.AzureName() {
			errs = append(errs, field.Forbidden(d.Path.Child("spec", "azureName"), "cannot change: write another document, with another name, for another resource"))
		}
		if fmt.Sprint(stored.Spec["owner"]) != fmt.Sprint(d.Spec["owner"]) {
			errs = append(errs, field.Forbidden(d.Path.Child("spec", "owner"), "cannot change: write another document, with another name, for another resource"))
		}
	}
	return errs
}

// ListWarnings say what of the documents of an object in a namespace works and should be looked at.
func ListWarnings(namespace string, resources []runtime.RawExtension) []string {
	documents, _ := ReadManifests("", resources)
	var out []string
	for _, d := range documents {
		if d.Namespace != nil && d.Namespace != namespace {
			out = append(out, fmt.Sprintf("%s: has no effect, because %s belongs to the namespace of the object that has it: leave it out", d.Path.Child("metadata", "namespace"), d))
		}
		resourceType, _ := d.ResourceType()
		apiVersion, _ := d.APIVersion()
		definition, ok := findDefinition(d)
		switch {
		case !ok || !schema.IsNewerThanAll(resourceType, apiVersion):
		case d.Annotations[UncheckedAnnotation] == "true":
			out = append(out, fmt.Sprintf("%s: API version %s of %s is newer than the provider knows, so nothing of the document is checked: Azure judges", d.Path, apiVersion, d))
		default:
			out = append(out, fmt.Sprintf("%s: API version %s of %s is newer than the provider knows: the document is checked against %s; set the annotation %s: \"true\" on it for a property that only the newer one has",
				d.Path, apiVersion, d, definition.APIVersion, UncheckedAnnotation))
		}
	}
	return out
}

// checkResourceName finds what is wrong with the name of a resource.
func checkResourceName(d Manifest) *field.Error {
	definition, ok := findDefinition(d)
	if !ok {
		return nil
	}
	findings := definition.CheckName(d.AzureName())
	if len(findings) == 0 {
		return nil
	}
	at := d.Path.Child("metadata", "name")
	if _, set := d.Spec["azureName"]; set {
		at = d.Path.Child("spec", "azureName")
	}
	return field.Invalid(at, d.AzureName(), "is no name for a "+d.Kind+" in Azure: must be "+strings.Replace(findings[0].Want, "pattern ", "a match of ", 1)+"; spec.azureName is the name in Azure where it is another one than that of the document")
}
