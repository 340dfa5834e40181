package aks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
)

// tokenMargin is how long before its expiry a token is replaced. The credential gets a new one only in the last five minutes.
const tokenMargin = 4 * time.Minute

// unlimited is the validity of a kubeconfig that does not expire.
const unlimited = 365 * 24 * time.Hour

// Suffixes of the names of Secrets with kubeconfigs after the cluster's name, and their key.
const (
	adminSuffix   = "-kubeconfig"
	userSuffix    = "-kubeconfig-user"
	kubeconfigKey = "value"
)

// Credentials are the kubeconfigs of a cluster.
type Credentials struct {
	// Kubeconfig is the one for Cluster API: that of the local administrator, or, if local accounts are disabled, one with a token of
	// the cluster's identity.
	Kubeconfig []byte
	// Admin and User are the kubeconfigs as AKS returns them; nil if they were not requested. User is requested for a cluster with Entra
	// integration.
	Admin, User []byte
	// expiresOn is when Kubeconfig expires; zero if it never does.
	expiresOn time.Time
}

// ValidFor returns how long Kubeconfig can be used from now on.
func (c *Credentials) ValidFor(now time.Time) time.Duration {
	if c.expiresOn.IsZero() {
		return unlimited
	}
	return max(time.Minute, c.expiresOn.Sub(now)-tokenMargin)
}

// KeepsToken reports whether the published kubeconfig of a cluster has a token that is renewed although the cluster is not as planned: while a
// change is under way or refused, Cluster API and users still need the API server. initialized tells that the kubeconfig was published.
func KeepsToken(cluster arm.Result, initialized *bool) bool {
	return !cluster.IsDone() && len(cluster.Observed) > 0 && initialized != nil && *initialized &&
		managedcluster.HasLocalAccountsDisabled(cluster.Observed) && !managedcluster.IsStopped(cluster.Observed)
}

// ReadKubeconfigs asks AKS for the kubeconfigs of the cluster with the state observed, unless the published ones are known to be
// current. It requests no token of a lent identity, because readers of the namespace's Secrets could use it for other clusters.
func ReadKubeconfigs(ctx context.Context, f *facts.Facts, caller facts.Caller, access *access.Access, id arm.ID, observed json.RawMessage,
	to published.Publisher) (*Credentials, error) {
	out := &Credentials{}
	entra, localDisabled := managedcluster.UsesEntraID(observed), managedcluster.HasLocalAccountsDisabled(observed)
	var err error
	if !localDisabled {
		if out.Admin, err = to.StoredValue(ctx, to.Cluster+adminSuffix, kubeconfigKey); err != nil {
			return nil, err
		}
		if out.Admin, err = f.GetKubeconfig(ctx, caller, id, facts.AdminCredential, observed, out.Admin); err != nil {
			return nil, fmt.Errorf("kubeconfig of the administrator: %w", err)
		}
		out.Kubeconfig = out.Admin
	}
	if entra {
		if out.User, err = to.StoredValue(ctx, to.Cluster+userSuffix, kubeconfigKey); err != nil {
			return nil, err
		}
		if out.User, err = f.GetKubeconfig(ctx, caller, id, facts.UserCredential, observed, out.User); err != nil {
			return nil, fmt.Errorf("kubeconfig of users: %w", err)
		}
	}
	switch {
	case !localDisabled:
	case !entra:
		return nil, errors.New("local accounts are disabled and the cluster has no Entra integration, so no kubeconfig can be issued: set spec.aadProfile, or spec.disableLocalAccounts to false")
	default:
		token, err := access.GetTokenToPublish(ctx, serverAppScope)
		if err != nil {
			return nil, fmt.Errorf("local accounts are disabled, so the kubeconfig needs a token of the cluster's identity for the API server: %w", err)
		}
		if out.Kubeconfig, err = replaceCredentials(out.User, token.Token); err != nil {
			return nil, err
		}
		out.expiresOn = token.ExpiresOn
	}
	if err := checkSelfContained(out.Kubeconfig); err != nil {
		return nil, err
	}
	return out, nil
}

// ReadExported returns the kubeconfig that operatorSpec exports as name, aso.AdminCredentials or aso.UserCredentials, of the cluster with the
// state observed. It takes the kubeconfig from known, which may be nil, or asks AKS. The result is nil for a stopped cluster, for the
// administrator of a cluster without local accounts, and for the Secret that Cluster API reads, which PublishSecrets writes. The Azure Service
// Operator exports both of every cluster:
// https://azure.github.io/azure-service-operator/guide/secrets/#how-to-retrieve-secrets-created-by-azure
func ReadExported(ctx context.Context, f *facts.Facts, caller facts.Caller, id arm.ID, observed json.RawMessage, known *Credentials,
	name string, at aso.KeyRef, to published.Publisher) ([]byte, error) {
	kind, have := facts.UserCredential, []byte(nil)
	if known != nil {
		have = known.User
	}
	if name == aso.AdminCredentials {
		kind, have = facts.AdminCredential, nil
		if known != nil {
			have = known.Admin
		}
	}
	switch {
	case len(have) > 0:
		return have, nil
	case aso.IsKubeconfigKey(to.Cluster, at), kind == facts.AdminCredential && managedcluster.HasLocalAccountsDisabled(observed), managedcluster.IsStopped(observed):
		return nil, nil
	}
	to.NamedBySpec = true
	have, err := to.StoredValue(ctx, at.Name, at.Key)
	if err != nil {
		return nil, err
	}
	if have, err = f.GetKubeconfig(ctx, caller, id, kind, observed, have); err != nil {
		return nil, fmt.Errorf("kubeconfig for %s: %w", name, err)
	}
	return have, nil
}

// PublishSecrets writes the Secrets that Cluster API and users read. A Secret of another creator gives a *field.Error.
func (c *Credentials) PublishSecrets(ctx context.Context, to published.Publisher) error {
	authority, err := readCertificateAuthority(c.Kubeconfig)
	if err != nil {
		return err
	}
	if err := to.PublishClusterSecret(ctx, to.Cluster+adminSuffix, map[string][]byte{kubeconfigKey: c.Kubeconfig}); err != nil {
		return RefuseForeign(to, err)
	}
	if c.User != nil {
		if err := to.PublishSecret(ctx, to.Cluster+userSuffix, map[string][]byte{kubeconfigKey: c.User}); err != nil {
			return RefuseForeign(to, err)
		}
	}
	return RefuseForeign(to, to.PublishClusterSecret(ctx, to.Cluster+"-ca",
		map[string][]byte{corev1.TLSCertKey: authority, corev1.TLSPrivateKeyKey: []byte(published.NoPrivateKey)}))
}

// RefuseForeign returns err, and a *field.Error in place of a published.ForeignObjectError about an object with a name of the provider.
func RefuseForeign(to published.Publisher, err error) error {
	var foreign published.ForeignObjectError
	if !errors.As(err, &foreign) {
		return err
	}
	return field.Forbidden(field.NewPath("metadata", "name"), fmt.Sprintf(
		"%s. Cluster %s needs this name. Check that no program uses the %s, keep a copy, and delete it, or choose another name for the Cluster",
		foreign.Error(), to.Cluster, foreign.Kind))
}
