package webhook

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// visibleExtensions refuses a change that nobody could see was not made yet: Azure does not show protected settings.
func visibleExtensions(old, extensions []infrav1.VMExtension, path *field.Path) (errs field.ErrorList) {
	for i, extension := range extensions {
		j := slices.IndexFunc(old, func(e infrav1.VMExtension) bool { return e.Name == extension.Name })
		if j < 0 || equality.Semantic.DeepEqual(old[j].ProtectedSettings, extension.ProtectedSettings) {
			continue
		}
		shown := old[j]
		shown.ProtectedSettings = extension.ProtectedSettings
		if equality.Semantic.DeepEqual(shown, extension) {
			errs = append(errs, field.Forbidden(path.Index(i).Child("protectedSettings"), "cannot change alone, because Azure does not show what an extension has: change the settings or the version with them"))
		}
	}
	return errs
}

// filledIdentityRole lets what is empty of a role be filled in, and nothing else: the defaults come when the subscription is
// known.
func filledIdentityRole(old, role *infrav1.SystemAssignedIdentityRole, path *field.Path) field.ErrorList {
	errs := onceSet(old.Name, role.Name, path.Child("name"))
	errs = append(errs, onceSet(old.Scope, role.Scope, path.Child("scope"))...)
	return append(errs, onceSet(old.DefinitionID, role.DefinitionID, path.Child("definitionID"))...)
}
