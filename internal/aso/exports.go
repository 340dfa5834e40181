package aso

import (
	"maps"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Names of exported values of a managed cluster in operatorSpec, of manifests and of patches.
const (
	// AdminCredentials and UserCredentials are kubeconfigs, in operatorSpec.secrets.
	AdminCredentials = "adminCredentials"
	UserCredentials  = "userCredentials"
	// OIDCIssuerProfile and PrincipalID are the issuer's URL and the principal of the cluster's identity, in operatorSpec.configMaps.
	OIDCIssuerProfile = "oidcIssuerProfile"
	PrincipalID       = "principalId"
)

// exportedSecrets are the names in operatorSpec.secrets by resource type.
var exportedSecrets = map[string][]string{types.ManagedCluster: {AdminCredentials, UserCredentials}}

// exportedPaths are the paths of the values for ConfigMaps, by resource type and name in operatorSpec.configMaps.
var exportedPaths = map[string]map[string]string{
	types.ManagedCluster: {OIDCIssuerProfile: "properties.oidcIssuerProfile.issuerURL", PrincipalID: "identity.principalId",
		// The operator has an expression for this value, and for those of other types.
		"kubeletPrincipalId": "properties.identityProfile.kubeletidentity.objectId"},
	types.UserAssignedIdentity: {PrincipalID: "properties.principalId", "clientId": "properties.clientId",
		"tenantId": "properties.tenantId"},
	types.ClusterExtension: {PrincipalID: "properties.aksAssignedIdentity.principalId"},
	keyVaultKey:            {"keyUriWithVersion": "properties.keyUriWithVersion"},
}

// keyVaultKey is the type of keys in vaults.
const keyVaultKey = "Microsoft.KeyVault/vaults/keys"

// ListExportedSecrets returns the supported names in operatorSpec.secrets of a resource type.
func ListExportedSecrets(resourceType string) []string { return exportedSecrets[resourceType] }

// ListExportedValues returns the supported names in operatorSpec.configMaps of a resource type, sorted.
func ListExportedValues(resourceType string) []string {
	return slices.Sorted(maps.Keys(exportedPaths[resourceType]))
}

// ExportedPath returns the path of a value for a ConfigMap in the body of a resource type; "" if the name is not supported.
func ExportedPath(resourceType, name string) string { return exportedPaths[resourceType][name] }
