package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// visibleExtensions refuses a change of protected settings alone. Azure does not return them, so the provider could not detect that
// they still have to be written.
func visibleExtensions(old, extensions []infrav1.VMExtension, path *field.Path) (errs field.ErrorList) {
	for i, extension := range extensions {
		j := slices.IndexFunc(old, func(e infrav1.VMExtension) bool { return e.Name == extension.Name })
		if j < 0 || equality.Semantic.DeepEqual(old[j].ProtectedSettings, extension.ProtectedSettings) {
			continue
		}
		shown := old[j]
		shown.ProtectedSettings = extension.ProtectedSettings
		if equality.Semantic.DeepEqual(shown, extension) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("protectedSettings"),
				"cannot change alone, because Azure does not return them. Change the settings or the version of the extension as well"))
		}
	}
	return errs
}

// filledIdentityRole allows empty fields of a role to be filled in and refuses other changes. Defaults are filled in once the
// subscription is known.
func filledIdentityRole(old, role *infrav1.SystemAssignedIdentityRole, path *field.Path) field.ErrorList {
	errs := onceSet(old.Name, role.Name, path.Child("name"))
	errs = append(errs, onceSet(old.Scope, role.Scope, path.Child("scope"))...)
	return append(errs, onceSet(old.DefinitionID, role.DefinitionID, path.Child("definitionID"))...)
}
