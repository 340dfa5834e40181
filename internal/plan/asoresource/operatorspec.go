package asoresource

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// checkOperatorSpec rejects exports in operatorSpec that are not supported, because users would wait for them in vain.
func checkOperatorSpec(m Manifest) field.ErrorList {
	path := m.Path.Child("spec", "operatorSpec")
	value, set := m.Spec["operatorSpec"]
	if !set {
		return nil
	}
	operator, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object with secrets and configMaps")}
	}
	resourceType, _ := m.ResourceType()
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(operator)) {
		at := path.Child(name)
		switch name {
		case "secrets":
			errs = append(errs, checkDestinations(at, "Secret", operator[name], aso.ListExportedSecrets(resourceType))...)
		case "configMaps":
			errs = append(errs, checkDestinations(at, "ConfigMap", operator[name], aso.ListExportedValues(resourceType))...)
		case "secretExpressions", "configMapExpressions":
			errs = append(errs, field.Forbidden(at,
				"expressions are not supported, because only Azure Service Operator computes them. Set destinations in operatorSpec.secrets and operatorSpec.configMaps."))
		default:
			errs = append(errs, field.NotSupported(at, name, []string{"secrets", "configMaps"}))
		}
	}
	return errs
}

// checkDestinations rejects invalid destinations of exported values. names are the supported values.
func checkDestinations(path *field.Path, kind string, value any, names []string) field.ErrorList {
	wanted, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object with a name and a key for each value")}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		at, to := path.Child(name), aso.ReadKeyRef(wanted[name])
		switch {
		case len(names) == 0:
			errs = append(errs, field.Forbidden(at, "is not supported: resources of this kind have no value to export there"))
		case !slices.Contains(names, name):
			errs = append(errs, field.NotSupported(at, name, names))
		case aso.NamespaceError(at, wanted[name]) != nil:
			errs = append(errs, aso.NamespaceError(at, wanted[name]))
		case to.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "the name of the destination"))
		case to.Key == "":
			errs = append(errs, field.Required(at.Child("key"), "the key of the destination"))
		case aso.CheckObjectName(at.Child("name"), kind, to.Name) != nil:
			errs = append(errs, aso.CheckObjectName(at.Child("name"), kind, to.Name))
		case aso.CheckObjectKey(at.Child("key"), kind, to.Key) != nil:
			errs = append(errs, aso.CheckObjectKey(at.Child("key"), kind, to.Key))
		}
	}
	return errs
}

// checkDestinationCollisions rejects equal destinations in the manifests of an object, and Secrets of the Cluster that the provider
// writes. Exporting the Secret that Cluster API reads is allowed, because its value is the same.
func checkDestinationCollisions(manifests []Manifest, cluster string) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]*field.Path{}
	for _, m := range manifests {
		for _, list := range []string{"secrets", "configMaps"} {
			wanted := toObject(toObject(m.Spec["operatorSpec"])[list])
			for _, name := range slices.Sorted(maps.Keys(wanted)) {
				at, to := m.Path.Child("spec", "operatorSpec", list, name), aso.ReadKeyRef(wanted[name])
				key := list + " " + to.Name + " " + to.Key
				switch first := seen[key]; {
				case to.Name == "" || to.Key == "":
				case first != nil:
					errs = append(errs, field.Invalid(at, "", "has the same destination as "+first.String()+". Choose another key."))
				case list == "secrets" && cluster != "" && aso.IsReservedKey(cluster, to.Name, to.Key):
					errs = append(errs, field.Forbidden(at.Child("name"),
						"is a Secret of Cluster "+cluster+" that the provider writes. Choose another name."))
				default:
					seen[key] = at
				}
			}
		}
	}
	return errs
}
