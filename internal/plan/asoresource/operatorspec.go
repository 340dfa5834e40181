package asoresource

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
)

// exportedSecrets are the names that operatorSpec.secrets may have, by the resource type.
var exportedSecrets = map[string][]string{types.ManagedCluster: {AdminCredentials, UserCredentials}}

// checkOperatorSpec finds what operatorSpec of a document asks for that nobody writes: it would be waited for in vain.
func checkOperatorSpec(d Manifest) field.ErrorList {
	path := d.Path.Child("spec", "operatorSpec")
	value, set := d.Spec["operatorSpec"]
	if !set {
		return nil
	}
	operator, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object with secrets and configMaps")}
	}
	resourceType, _ := d.ResourceType()
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(operator)) {
		at := path.Child(name)
		switch name {
		case "secrets":
			errs = append(errs, checkDestinations(at, "Secret", operator[name], exportedSecrets[resourceType])...)
		case "configMaps":
			errs = append(errs, checkDestinations(at, "ConfigMap", operator[name], slices.Sorted(maps.Keys(exportedPaths[resourceType])))...)
		case "secretExpressions", "configMapExpressions":
			errs = append(errs, field.Forbidden(at, "expressions are computed by Azure Service Operator, which is not there: name the destinations below operatorSpec.secrets and operatorSpec.configMaps"))
		default:
			errs = append(errs, field.NotSupported(at, name, []string{"secrets", "configMaps"}))
		}
	}
	return errs
}

// checkDestinations finds what is wrong with the places that values of these names are to be written to.
func checkDestinations(path *field.Path, of string, value any, names []string) field.ErrorList {
	wanted, ok := value.(map[string]any)
	if !ok {
		return field.ErrorList{field.Invalid(path, "", "must be an object that has a name and a key for each value")}
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		at, to := path.Child(name), readDestination(wanted[name])
		switch {
		case len(names) == 0:
			errs = append(errs, field.Forbidden(at, "resources of this kind have no value that is written there"))
		case !slices.Contains(names, name):
			errs = append(errs, field.NotSupported(at, name, names))
		case hasNamespace(wanted[name]):
			errs = append(errs, newNamespaceError(at))
		case to.Name == "":
			errs = append(errs, field.Required(at.Child("name"), "where the value is written to"))
		case to.Key == "":
			errs = append(errs, field.Required(at.Child("key"), "the key that the value is written to"))
		case checkObjectName(at.Child("name"), of, to.Name) != nil:
			errs = append(errs, checkObjectName(at.Child("name"), of, to.Name))
		case checkDataKey(at.Child("key"), of, to.Key) != nil:
			errs = append(errs, checkDataKey(at.Child("key"), of, to.Key))
		}
	}
	return errs
}

// hasNamespace tells whether a reference of a document names a namespace. References are to the namespace of the object that has the
// document.
func hasNamespace(reference any) bool {
	_, names := toObject(reference)["namespace"]
	return names
}

func newNamespaceError(path *field.Path) *field.Error {
	return field.Forbidden(path.Child("namespace"), "is always that of the object that has the document: leave it out")
}

// checkDestinationCollisions finds destinations of the documents of an object that take each other's place, and Secrets of the Cluster that the
// provider writes by itself. A value for the Secret that Cluster API reads is what is there already.
func checkDestinationCollisions(documents []Manifest, cluster string) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]*field.Path{}
	for _, d := range documents {
		for _, list := range []string{"secrets", "configMaps"} {
			wanted := toObject(toObject(d.Spec["operatorSpec"])[list])
			for _, name := range slices.Sorted(maps.Keys(wanted)) {
				at, to := d.Path.Child("spec", "operatorSpec", list, name), readDestination(wanted[name])
				key := list + " " + to.Name + " " + to.Key
				switch first := seen[key]; {
				case to.Name == "" || to.Key == "":
				case first != nil:
					errs = append(errs, field.Invalid(at, "", "is written where "+first.String()+" is: name another key"))
				case list == "secrets" && cluster != "" && objectkey.Reserved(cluster, to.Name, to.Key):
					errs = append(errs, field.Forbidden(at.Child("name"), "is a Secret of Cluster "+cluster+" that the provider writes: name another one"))
				default:
					seen[key] = at
				}
			}
		}
	}
	return errs
}
