package aks

import (
	"context"
	"errors"
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
)

// Exports are the values for Secrets and ConfigMaps that users name in operatorSpec, of patches or manifests.
type Exports struct {
	secrets    map[string]map[string][]byte
	configMaps map[string]map[string]string
	// owners are the objects of the Azure Service Operator that may have made them before a migration, by kind and name.
	owners map[string][]published.ASOObject
}

// AddFormerOwner has the Secret or ConfigMap of a name count as own if this object of the Azure Service Operator made it. kind is Secret or
// ConfigMap.
func (e *Exports) AddFormerOwner(kind, name string, owner published.ASOObject) {
	if e.owners == nil {
		e.owners = map[string][]published.ASOObject{}
	}
	e.owners[kind+" "+name] = append(e.owners[kind+" "+name], owner)
}

// AddSecret adds a value for a key of a Secret. An empty value is left out.
func (e *Exports) AddSecret(to aso.KeyRef, value []byte) {
	if len(value) > 0 {
		addValue(&e.secrets, to, value)
	}
}

// AddConfigMap adds a value for a key of a ConfigMap. An empty value is left out.
func (e *Exports) AddConfigMap(to aso.KeyRef, value string) {
	if value != "" {
		addValue(&e.configMaps, to, value)
	}
}

func addValue[V any](into *map[string]map[string]V, to aso.KeyRef, value V) {
	if *into == nil {
		*into = map[string]map[string]V{}
	}
	if (*into)[to.Name] == nil {
		(*into)[to.Name] = map[string]V{}
	}
	(*into)[to.Name][to.Key] = value
}

// TakeConfigMap removes the values for a ConfigMap and returns them, nil if there are none.
func (e *Exports) TakeConfigMap(name string) map[string]string {
	values := e.configMaps[name]
	delete(e.configMaps, name)
	return values
}

// RefusedExportError means that an object must not be written for users: it belongs to another creator, or the provider writes it. Users
// who may write manifests or patches need not be allowed to write Secrets.
type RefusedExportError struct{ Kind, Name, Reason string }

func (e RefusedExportError) Error() string { return e.Reason }

// Publish writes the values. An error may be a RefusedExportError.
func (e *Exports) Publish(ctx context.Context, to published.Publisher) error {
	to.NamedBySpec = true
	for _, name := range slices.Sorted(maps.Keys(e.configMaps)) {
		to.FormerOwners = e.owners["ConfigMap "+name]
		if err := refuseForeign(to.PublishConfigMap(ctx, name, e.configMaps[name])); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.secrets)) {
		values := maps.Clone(e.secrets[name])
		if name == aso.KubeconfigSecretName(to.Cluster) {
			delete(values, aso.KubeconfigKey) // The Secret that Cluster API reads already has the kubeconfig.
		}
		if len(values) == 0 {
			continue
		}
		for key := range values {
			if aso.IsReservedKey(to.Cluster, name, key) {
				return RefusedExportError{"Secret", name,
					"Secret " + name + " of Cluster " + to.Cluster + " is reserved: the provider writes it. Choose another name"}
			}
		}
		to.FormerOwners = e.owners["Secret "+name]
		if err := refuseForeign(to.PublishSecret(ctx, name, values)); err != nil {
			return err
		}
	}
	return nil
}

func refuseForeign(err error) error {
	var foreign published.ForeignObjectError
	if !errors.As(err, &foreign) {
		return err
	}
	return RefusedExportError{foreign.Kind, foreign.Name, foreign.Error() + ". Choose the name of a " + foreign.Kind + " that does not exist, or delete it"}
}
