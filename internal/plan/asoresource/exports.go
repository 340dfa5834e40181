package asoresource

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// ManagedCluster is the managed cluster of the object: its first document of that kind.
func (in Input) ManagedCluster() (Manifest, bool) {
	return in.FirstOfType(in.ObjectKey, types.ManagedCluster)
}

// AgentPool is the agent pool of the object: its first document of that kind.
func (in Input) AgentPool() (Manifest, bool) { return in.FirstOfType(in.ObjectKey, types.AgentPool) }

// ControlPlaneStatus is what Cluster API wants to know of a managed cluster.
type ControlPlaneStatus struct {
	// Host and Port are where the API server is, its private name if there is one.
	Host string
	Port int32
	// Version is what the control plane runs, as in "v1.33.2".
	Version string
}

// ReadControlPlaneStatus reads a managed cluster as Azure shows it.
func ReadControlPlaneStatus(observed json.RawMessage) ControlPlaneStatus {
	properties := aks.ObserveCluster(observed).Properties
	out := ControlPlaneStatus{Host: cmp.Or(properties.PrivateFQDN, properties.FQDN), Version: aks.CurrentVersion(observed)}
	if out.Host != "" {
		out.Port = aks.APIServerPort
	}
	return out
}

// Names of what operatorSpec.secrets of a ManagedCluster asks for.
const (
	AdminCredentials = "adminCredentials"
	UserCredentials  = "userCredentials"
)

// Export is a value that operatorSpec asks for.
type Export struct {
	// Name is the key below operatorSpec.secrets or operatorSpec.configMapValues, To where the value goes.
	Name string
	To   KeyRef
	// Value is the value of one for a ConfigMap.
	Value string
	// Path is where the document asks for it.
	Path *field.Path
}

// exportedPaths are the places of values for ConfigMaps, by the resource type and the operator's name.
var exportedPaths = map[string]map[string]string{
	types.ManagedCluster: {"oidcIssuerProfile": "properties.oidcIssuerProfile.issuerURL", "principalId": "identity.principalId",
		// The operator has an expression for this one, and for those of other types.
		"kubeletPrincipalId": "properties.identityProfile.kubeletidentity.objectId"},
	types.UserAssignedIdentity: {"principalId": "properties.principalId", "clientId": "properties.clientId", "tenantId": "properties.tenantId"},
	types.ClusterExtension:     {"principalId": "properties.aksAssignedIdentity.principalId"},
	keyVaultKey:                {"keyUriWithVersion": "properties.keyUriWithVersion"},
}

// keyVaultKey is the type of keys in vaults.
const keyVaultKey = "Microsoft.KeyVault/vaults/keys"

// ListExports are what operatorSpec of a document asks for, of what Azure shows of its resource.
func ListExports(d Manifest, observed json.RawMessage) []Export {
	operator, asked := toObject(d.Spec["operatorSpec"]), d.Path.Child("spec", "operatorSpec")
	var out []Export
	secrets := toObject(operator["secrets"])
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		out = append(out, Export{Name: name, To: readDestination(secrets[name]), Path: asked.Child("secrets", name)})
	}
	var shown map[string]any
	_ = json.Unmarshal(observed, &shown) // What cannot be read shows nothing.
	resourceType, _ := d.ResourceType()
	configMaps := toObject(operator["configMaps"])
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		if path, ok := exportedPaths[resourceType][name]; ok {
			if value := textAt(shown, path); value != "" {
				out = append(out, Export{Name: name, To: readDestination(configMaps[name]), Value: value, Path: asked.Child("configMaps", name)})
			}
		}
	}
	return slices.DeleteFunc(out, func(e Export) bool { return e.To.Name == "" || e.To.Key == "" })
}

func readDestination(value any) KeyRef {
	name, _ := toObject(value)["name"].(string)
	key, _ := toObject(value)["key"].(string)
	return KeyRef{Name: name, Key: key}
}

func textAt(value any, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		value = toObject(value)[key]
	}
	text, _ := value.(string)
	return text
}
