package asoresource

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// ValidateManifests returns the errors in the manifests of an object that do not depend on other objects. needs is a required
// resource type or "", version is spec.version, and unchecked are the kinds that may lack a definition.
func ValidateManifests(namespace string, resources []runtime.RawExtension, needs, version string, unchecked []string) field.ErrorList {
	in, plains, unreadable := readAlone(namespace, resources, version, unchecked)
	errs := checkEffective(in, unreadable)
	for _, m := range in.Manifests() {
		if wrong := aso.NamespaceError(m.Path.Child("spec", "owner"), m.Spec["owner"]); wrong != nil {
			errs = append(errs, wrong)
		}
	}
	if _, ok := in.FirstOfType("", needs); needs != "" && !ok && len(in.Manifests())+plains == len(resources) {
		group, kind := aso.GroupKindOf(needs)
		errs = append(errs, field.Required(field.NewPath("spec", "resources"), "a resource manifest of kind "+kind+", group "+group))
	}
	return errs
}

// FindIneffective returns the errors for which the manifests of a stored object are not reconciled, or an export of them is skipped. Those that
// depend on other objects are left out.
func FindIneffective(namespace string, resources []runtime.RawExtension, version string, unchecked []string) field.ErrorList {
	in, _, unreadable := readAlone(namespace, resources, version, unchecked)
	return checkEffective(in, unreadable)
}

// readAlone returns the input of the manifests of an object without other objects, the number of plain objects, and the errors of reading them.
func readAlone(namespace string, resources []runtime.RawExtension, version string, unchecked []string) (in Input, plains int, errs field.ErrorList) {
	manifests, errs := ReadManifests("", resources)
	plain, wrong := ReadPlainObjects(namespace, resources)
	return Input{Owner: &metav1.ObjectMeta{}, Object: &metav1.ObjectMeta{}, Set: NewSet("", manifests, false), Version: version,
		UncheckedKinds: unchecked}, len(plain), append(errs, wrong...)
}

// checkEffective returns the errors for which a reconciliation refuses the manifests of an object, and those of exports, which it skips.
func checkEffective(in Input, unreadable field.ErrorList) field.ErrorList {
	errs := CheckReconcilable(in, unreadable)
	for _, m := range in.OwnManifests() {
		errs = append(errs, checkOperatorSpec(m)...)
	}
	return errs
}

// CheckReconcilable returns the errors for which a reconciliation refuses the manifests of an object. unreadable are the errors of reading
// them.
func CheckReconcilable(in Input, unreadable field.ErrorList) field.ErrorList {
	return slices.Concat(unreadable, CheckManifests(in), CheckCredentials(in.OwnManifests()))
}

// CheckCredentials rejects manifests of one object with different credentials, because one reconciliation uses one identity.
func CheckCredentials(manifests []Manifest) field.ErrorList {
	var errs field.ErrorList
	chosen := ""
	for _, m := range manifests {
		name := m.Annotations[CredentialAnnotation]
		switch {
		case chosen == "":
			chosen = name
		case name != "" && name != chosen:
			errs = append(errs, field.Invalid(m.Path.Child("metadata", "annotations").Key(CredentialAnnotation), name,
				"another manifest of the object names "+chosen+". All manifests of an object must use the same credential."))
		}
	}
	return errs
}

// ValidateUpdate rejects changes to the location of the resources of manifests, because they would create other resources. A name or an owner
// that was never sent to Azure can be corrected. old is the stored object, before and after are the manifests. made is set if the
// established provider has created resources of the object, of which no annotation has a record.
func ValidateUpdate(old metav1.Object, made bool, before, after []runtime.RawExtension) field.ErrorList {
	was := map[string]Manifest{}
	stored, _ := ReadManifests("", before)
	for _, m := range stored {
		was[m.Key()] = m
	}
	sent := func(Manifest) bool { return made }
	if !NothingCreated(old) {
		resources := applied.AppliedResources(old.GetAnnotations(), "")
		sent = func(m Manifest) bool {
			resourceType, _ := m.ResourceType()
			return slices.ContainsFunc(resources, func(id arm.ID) bool {
				return strings.EqualFold(id.Type(), resourceType) && strings.EqualFold(id.Name(), m.AzureName())
			})
		}
	}
	manifests, _ := ReadManifests("", after)
	var errs field.ErrorList
	for _, m := range manifests {
		stored, ok := was[m.Key()]
		if !ok || !sent(stored) {
			continue
		}
		if stored.AzureName() != m.AzureName() {
			errs = append(errs, field.Forbidden(m.Path.Child("spec", "azureName"),
				"cannot change: write another manifest, with another name, for another resource"))
		}
		if fmt.Sprint(stored.Spec["owner"]) != fmt.Sprint(m.Spec["owner"]) {
			errs = append(errs, field.Forbidden(m.Path.Child("spec", "owner"),
				"cannot change: write another manifest, with another name, for another resource"))
		}
	}
	return errs
}

// ListWarnings returns warnings about manifests of an object that are valid but need attention. unchecked are the kinds that may lack a
// definition.
func ListWarnings(namespace string, resources []runtime.RawExtension, unchecked []string) []string {
	manifests, _ := ReadManifests("", resources)
	var out []string
	for _, m := range manifests {
		if m.Namespace != nil && m.Namespace != namespace {
			out = append(out, fmt.Sprintf("%s: has no effect, because %s belongs to the namespace of its object. Leave it out.",
				m.Path.Child("metadata", "namespace"), m))
		}
		resourceType, _ := m.ResourceType()
		if poolType, _ := m.Spec["type"].(string); resourceType == types.AgentPool && agentpool.UnsupportedType(poolType) != "" {
			out = append(out, fmt.Sprintf("%s: %s.", m.Path.Child("spec", "type"), agentpool.UnsupportedType(poolType)))
		}
		apiVersion, _ := m.APIVersion()
		definition, ok := findDefinition(m)
		switch {
		case aso.IsUndefined(resourceType):
			if aso.AllowsUnchecked(unchecked, m.Group, m.Kind) {
				out = append(out, fmt.Sprintf("%s: %s", m.Path, uncheckedNotice(m)))
			}
		case !ok || !schema.IsNewerThanAll(resourceType, apiVersion):
		case m.Annotations[UncheckedAnnotation] == "true":
			out = append(out, fmt.Sprintf("%s: API version %s of %s is newer than the provider knows, so only Azure checks the manifest", m.Path,
				apiVersion, m))
		default:
			out = append(out, fmt.Sprintf("%s: API version %s of %s is newer than the provider knows, so the manifest is checked against %s. For a property that only the newer version has, set the annotation %s: \"true\".",
				m.Path, apiVersion, m, definition.APIVersion, UncheckedAnnotation))
		}
	}
	return out
}

// checkResourceName rejects a name that Azure does not accept for the resource.
func checkResourceName(m Manifest) *field.Error {
	definition, ok := findDefinition(m)
	if !ok {
		return nil
	}
	findings := definition.CheckName(m.AzureName())
	if len(findings) == 0 {
		return nil
	}
	return field.Invalid(nameField(m), m.AzureName(),
		"is not a valid name of a "+m.Kind+" in Azure. It must be "+strings.Replace(findings[0].Want, "pattern ", "a match of ",
			1)+". Set spec.azureName if the name in Azure differs from that of the manifest.")
}

// nameField returns the field with the name of a manifest's resource in Azure.
func nameField(m Manifest) *field.Path {
	if _, set := m.Spec["azureName"]; set {
		return m.Path.Child("spec", "azureName")
	}
	return m.Path.Child("metadata", "name")
}
