package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/objectkey"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// issuerSuffix follows the name of the Cluster in the name of the ConfigMap with the OIDC issuer.
const issuerSuffix = "-aso-oidc-issuer-profile"

// issuerKey is the key of the issuer's URL in <cluster>-aso-oidc-issuer-profile.
const issuerKey = "oidc-issuer-profile-url"

// exportValues writes the data of the cluster that users read besides its kubeconfigs: the ConfigMap with the OIDC issuer, and the
// values that operatorSpec in patches requests.
func exportValues(ctx context.Context, to published.Publisher, observed json.RawMessage, exports aso.Exports, credentials *aks.Credentials) error {
	issuer := managedcluster.IssuerURL(observed)
	configMaps := map[string]map[string]string{}
	secrets := map[string]map[string][]byte{}
	add := func(at *aso.Destination, value string) {
		if at == nil || value == "" {
			return
		}
		if configMaps[at.Name] == nil {
			configMaps[at.Name] = map[string]string{}
		}
		configMaps[at.Name][at.Key] = value
	}
	addSecret := func(at *aso.Destination, value []byte) {
		if at == nil || len(value) == 0 {
			return
		}
		if secrets[at.Name] == nil {
			secrets[at.Name] = map[string][]byte{}
		}
		secrets[at.Name][at.Key] = value
	}
	add(&aso.Destination{Name: to.Cluster + issuerSuffix, Key: issuerKey}, issuer)
	add(exports.OIDCIssuerProfile, issuer)
	add(exports.PrincipalID, principalID(observed))
	addSecret(exports.AdminCredentials, credentials.Admin)
	addSecret(exports.UserCredentials, credentials.User)
	issuers := to.Cluster + issuerSuffix
	if data := configMaps[issuers]; data != nil {
		if err := to.PublishConfigMap(ctx, issuers, data); err != nil {
			return err
		}
		delete(configMaps, issuers)
	}
	// Users who may write patches need not be allowed to write Secrets, so objects of other creators stay as they are.
	to.RefuseForeign = true
	for _, name := range slices.Sorted(maps.Keys(configMaps)) {
		if err := refuseForeign(to.PublishConfigMap(ctx, name, configMaps[name])); err != nil {
			return err
		}
	}
	// The Secret that Cluster API reads already has the kubeconfig.
	if kubeconfig := secrets[objectkey.KubeconfigSecretName(to.Cluster)]; len(kubeconfig) > 0 {
		delete(kubeconfig, objectkey.KubeconfigKey)
		if len(kubeconfig) == 0 {
			delete(secrets, objectkey.KubeconfigSecretName(to.Cluster))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		for _, key := range slices.Sorted(maps.Keys(secrets[name])) {
			if objectkey.IsReserved(to.Cluster, name, key) {
				return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(aso.PatchField(aso.ManagedCluster), "operatorSpec.secrets: Secret "+name+" of Cluster "+to.Cluster+" is one that the provider writes: name another one")})
			}
		}
		if err := refuseForeign(to.PublishSecret(ctx, name, secrets[name])); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign turns the error of a write to a foreign object into a refusal of the patches, because only the user can correct it.
func refuseForeign(err error) error {
	var theirs published.ForeignObjectError
	if !errors.As(err, &theirs) {
		return err
	}
	return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(aso.PatchField(aso.ManagedCluster), "operatorSpec: "+theirs.Error()+" and is left as it is: name one that does not exist")})
}

// principalID returns the principal of the cluster's identity; "" for another kind of identity.
func principalID(observed json.RawMessage) string {
	if identity := managedcluster.Observe(observed).Identity; identity != nil {
		return identity.PrincipalID
	}
	return ""
}
