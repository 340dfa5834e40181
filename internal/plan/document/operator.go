package document

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// exportedSecrets are the names that operatorSpec.secrets may have, by the resource type.
var exportedSecrets = map[string][]string{types.ManagedCluster: {AdminCredentials, UserCredentials}}

// misdirected finds what operatorSpec of a document asks for that nobody writes: it would be waited for in vain.
func misdirected(d Document) field.ErrorList {
	path := d.Path.Child("spec", "operatorSpec")
	value, set := d.Spec["operatorSpec"]
	if !set {
		return nil
	}
	operator, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object with secrets and configMaps")}
	}
	resourceType, _ := d.Type()
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(operator)) {
		at := path.Child(name)
		switch name {
		case "secrets":
			errs = append(errs, destinations(at, operator[name], exportedSecrets[resourceType])...)
		case "configMaps":
			errs = append(errs, destinations(at, operator[name], slices.Sorted(maps.Keys(exported[resourceType])))...)
		case "secretExpressions", "configMapExpressions":
			errs = append(errs, field.Forbidden(at, "expressions are computed by Azure Service Operator, which is not there: name the destinations below operatorSpec.secrets and operatorSpec.configMaps"))
		default:
			errs = append(errs, field.NotSupported(at, name, []string{"secrets", "configMaps"}))
		}
	}
	return errs
}

// destinations finds what is wrong with the places that values of these names are to be written to.
func destinations(path *field.Path, value any, names []string) field.ErrorList {
	wanted, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object that has a name and a key for each value")}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		at, to := path.Child(name), destination(wanted[name])
		switch {
		case len(names) == 0:
			errs = append(errs, field.Forbidden(at, "resources of this kind have no value that is written there"))
		case !slices.Contains(names, name):
			errs = append(errs, field.NotSupported(at, name, names))
		case to.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "where the value is written to"))
		case to.Key == "":
			errs = append(errs, field.Required(at.Child("key"), "the key that the value is written to"))
		}
	}
	return errs
}
