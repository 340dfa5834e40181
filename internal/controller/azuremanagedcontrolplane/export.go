package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed/asopatch"
)

// issuerKey is the key of the issuer's URL in <cluster>-aso-oidc-issuer-profile.
const issuerKey = "oidc-issuer-profile-url"

// export writes what users read of the cluster beside its kubeconfigs: the ConfigMap with the OIDC issuer, and what patches
// of operatorSpec ask for.
func export(ctx context.Context, to published.Publisher, observed json.RawMessage, exports asopatch.Exports, credentials *managed.Credentials) error {
	issuer := plan.IssuerURL(observed)
	configMaps := map[string]map[string]string{}
	secrets := map[string]map[string][]byte{}
	add := func(at *asopatch.Destination, value string) {
		if at == nil || value == "" {
			return
		}
		if configMaps[at.Name] == nil {
			configMaps[at.Name] = map[string]string{}
		}
		configMaps[at.Name][at.Key] = value
	}
	addSecret := func(at *asopatch.Destination, value []byte) {
		if at == nil || len(value) == 0 {
			return
		}
		if secrets[at.Name] == nil {
			secrets[at.Name] = map[string][]byte{}
		}
		secrets[at.Name][at.Key] = value
	}
	add(&asopatch.Destination{Name: to.Cluster + "-aso-oidc-issuer-profile", Key: issuerKey}, issuer)
	add(exports.OIDCIssuerProfile, issuer)
	add(exports.PrincipalID, principalID(observed))
	addSecret(exports.AdminCredentials, credentials.Admin)
	addSecret(exports.UserCredentials, credentials.User)
	for _, name := range sortedKeys(configMaps) {
		if err := to.ConfigMap(ctx, name, configMaps[name]); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(secrets) {
		if err := to.Secret(ctx, name, secrets[name]); err != nil {
			return err
		}
	}
	return nil
}

// principalID is the principal of the cluster's identity; "" where it has another kind of identity.
func principalID(observed json.RawMessage) string {
	if identity := plan.Observe(observed).Identity; identity != nil {
		return identity.PrincipalID
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
