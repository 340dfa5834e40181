package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// issuerSuffix follows the name of the Cluster in the name of the ConfigMap with the OIDC issuer.
const issuerSuffix = "-aso-oidc-issuer-profile"

// issuerKey is the key of the issuer's URL in <cluster>-aso-oidc-issuer-profile.
const issuerKey = "oidc-issuer-profile-url"

// exportValues writes the data of the cluster that users read besides its kubeconfigs: the ConfigMap with the OIDC issuer, and the
// values that operatorSpec in patches requests.
func (k *Kind) exportValues(ctx context.Context, session reconcile.Session, in *input, observed json.RawMessage,
	credentials *aks.Credentials) error {
	to := k.newPublisher(in)
	issuer := managedcluster.IssuerURL(observed)
	issuers := to.Cluster + issuerSuffix
	var values aks.Exports
	values.AddConfigMap(aso.KeyRef{Name: issuers, Key: issuerKey}, issuer)
	if at := in.exports.OIDCIssuerProfile; at != nil {
		values.AddConfigMap(*at, issuer)
	}
	if at := in.exports.PrincipalID; at != nil {
		values.AddConfigMap(*at, principalID(observed))
	}
	for _, export := range []struct {
		name string
		at   *aso.KeyRef
	}{{aso.AdminCredentials, in.exports.AdminCredentials}, {aso.UserCredentials, in.exports.UserCredentials}} {
		if export.at == nil {
			continue
		}
		kubeconfig, err := aks.ReadExported(ctx, k.Facts, session.Caller(), plan.ClusterID(in.planned), observed, credentials, export.name, *export.at, to)
		if err != nil {
			return err
		}
		values.AddSecret(*export.at, kubeconfig)
	}
	if data := values.TakeConfigMap(issuers); data != nil {
		if err := to.PublishConfigMap(ctx, issuers, data); err != nil {
			return aks.RefuseForeign(to, err)
		}
	}
	err := values.Publish(ctx, to)
	var refused aks.RefusedExportError
	if errors.As(err, &refused) {
		return reconcile.RefuseSpec(field.ErrorList{field.Forbidden(aso.PatchField(aso.ManagedCluster), "operatorSpec: "+refused.Error())})
	}
	return err
}

// principalID returns the principal of the cluster's identity; "" for another kind of identity.
func principalID(observed json.RawMessage) string {
	if identity := managedcluster.Observe(observed).Identity; identity != nil {
		return identity.PrincipalID
	}
	return ""
}
