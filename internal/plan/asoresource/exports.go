package asoresource

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// ManagedCluster returns the managed cluster of the object: its first manifest of that kind.
func (in Input) ManagedCluster() (Manifest, bool) { return in.ManagedClusterOf(in.ObjectKey) }

// ManagedClusterOf returns the managed cluster of an object with this key.
func (in Input) ManagedClusterOf(key string) (Manifest, bool) {
	return in.FirstOfType(key, types.ManagedCluster)
}

// AgentPool returns the agent pool of the object: its first manifest of that kind.
func (in Input) AgentPool() (Manifest, bool) { return in.FirstOfType(in.ObjectKey, types.AgentPool) }

// ControlPlaneStatus is the status of a managed cluster that Cluster API needs.
type ControlPlaneStatus struct {
	// Host and Port are the address of the API server, with its private name if there is one.
	Host string
	Port int32
	// Version is the running version of the control plane, as in "v1.33.2".
	Version string
}

// ReadControlPlaneStatus decodes a managed cluster.
func ReadControlPlaneStatus(observed json.RawMessage) ControlPlaneStatus {
	properties := managedcluster.Observe(observed).Properties
	out := ControlPlaneStatus{Host: cmp.Or(properties.PrivateFQDN, properties.FQDN), Version: managedcluster.CurrentVersion(observed)}
	if out.Host != "" {
		out.Port = managedcluster.APIServerPort
	}
	return out
}

// Export is a value that operatorSpec exports.
type Export struct {
	// Name is the key below operatorSpec.secrets or operatorSpec.configMaps, To the destination.
	Name string
	To   aso.KeyRef
	// Value is the value for a ConfigMap.
	Value string
	// Path is the place of the export in the manifest.
	Path *field.Path
}

// ListExports returns the exports in operatorSpec of a manifest whose values Azure shows.
func ListExports(m Manifest, observed json.RawMessage) []Export {
	operator, asked := toObject(m.Spec["operatorSpec"]), m.Path.Child("spec", "operatorSpec")
	var out []Export
	secrets := toObject(operator["secrets"])
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		out = append(out, Export{Name: name, To: aso.ReadKeyRef(secrets[name]), Path: asked.Child("secrets", name)})
	}
	var shown map[string]any
	_ = json.Unmarshal(observed, &shown) // An unreadable resource has no values.
	resourceType, _ := m.ResourceType()
	configMaps := toObject(operator["configMaps"])
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		if path := aso.ExportedPath(resourceType, name); path != "" {
			if value := jsonpath.GetText(shown, path); value != "" {
				out = append(out, Export{Name: name, To: aso.ReadKeyRef(configMaps[name]), Value: value, Path: asked.Child("configMaps", name)})
			}
		}
	}
	return slices.DeleteFunc(out, func(e Export) bool { return e.To.Name == "" || e.To.Key == "" })
}
