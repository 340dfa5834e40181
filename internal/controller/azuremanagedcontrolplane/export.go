package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"slices"

	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed/asopatch"
)

// issuerKey is the key of the issuer's URL in <cluster>-aso-oidc-issuer-profile.
const issuerKey = "oidc-issuer-profile-url"

// export writes what users read of the cluster beside its kubeconfigs: the ConfigMap with the OIDC issuer, and what patches
// of operatorSpec ask for.
func (k *Kind) export(ctx context.Context, in *input, observed json.RawMessage, exports asopatch.Exports, credentials *credentials) error {
	issuer := plan.IssuerURL(observed)
	configMaps := map[string]map[string]string{}
	secrets := map[string]map[string][]byte{}
	add := func(to *asopatch.Destination, value string) {
		if to == nil || value == "" {
			return
		}
		if configMaps[to.Name] == nil {
			configMaps[to.Name] = map[string]string{}
		}
		configMaps[to.Name][to.Key] = value
	}
	addSecret := func(to *asopatch.Destination, value []byte) {
		if to == nil || len(value) == 0 {
			return
		}
		if secrets[to.Name] == nil {
			secrets[to.Name] = map[string][]byte{}
		}
		secrets[to.Name][to.Key] = value
	}
	add(&asopatch.Destination{Name: in.cluster.Name + "-aso-oidc-issuer-profile", Key: issuerKey}, issuer)
	add(exports.OIDCIssuerProfile, issuer)
	add(exports.PrincipalID, principalID(observed))
	addSecret(exports.AdminCredentials, credentials.admin)
	addSecret(exports.UserCredentials, credentials.user)
	for _, name := range sortedKeys(configMaps) {
		if err := k.apply(ctx, in, newConfigMap(in, name, configMaps[name])); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(secrets) {
		if err := k.apply(ctx, in, newSecret(in, name, secrets[name])); err != nil {
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
