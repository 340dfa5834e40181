package aks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/kubeconfig"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// tokenMargin is how long before its end a token is replaced. The credential has a new one only in the last five minutes.
const tokenMargin = 4 * time.Minute

// unlimited is how long a kubeconfig holds that does not expire.
const unlimited = 365 * 24 * time.Hour

// Names of Secrets with kubeconfigs after that of the cluster, and the key in them.
const (
	adminSuffix   = "-kubeconfig"
	userSuffix    = "-kubeconfig-user"
	kubeconfigKey = "value"
)

// Credentials are the kubeconfigs of a cluster.
type Credentials struct {
	// Kubeconfig is what Cluster API uses: that of the local administrator, or where there are no local accounts one with
	// a token of the cluster's identity.
	Kubeconfig []byte
	// Admin and User are the kubeconfigs as AKS answers them; nil when not asked for.
	Admin, User []byte
	// ValidFor is how long Kubeconfig can be used.
	ValidFor time.Duration
}

// ReadKubeconfigs asks AKS for the kubeconfigs of the cluster that it shows as observed, unless they are those that were published and
// nothing tells that they may have been rotated.
func ReadKubeconfigs(ctx context.Context, f *facts.Facts, access *access.Access, id arm.ID, observed json.RawMessage, to published.Publisher) (*Credentials, error) {
	out := &Credentials{ValidFor: unlimited}
	entra, localDisabled := plan.UsesEntraID(observed), plan.HasLocalAccountsDisabled(observed)
	var err error
	if !localDisabled {
		if out.Admin, err = to.StoredValue(ctx, to.Cluster+adminSuffix, kubeconfigKey); err != nil {
			return nil, err
		}
		if out.Admin, err = f.GetKubeconfig(ctx, access.Client, id, facts.AdminCredential, observed, out.Admin); err != nil {
			return nil, fmt.Errorf("kubeconfig of the administrator: %w", err)
		}
		out.Kubeconfig = out.Admin
	}
	if entra {
		if out.User, err = to.StoredValue(ctx, to.Cluster+userSuffix, kubeconfigKey); err != nil {
			return nil, err
		}
		if out.User, err = f.GetKubeconfig(ctx, access.Client, id, facts.UserCredential, observed, out.User); err != nil {
			return nil, fmt.Errorf("kubeconfig of users: %w", err)
		}
	}
	switch {
	case !localDisabled:
	case !entra:
		return nil, errors.New("local accounts are disabled and the cluster has no Entra integration, so nobody can have a kubeconfig: set spec.aadProfile, or spec.disableLocalAccounts to false")
	default:
		token, err := access.Credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{kubeconfig.ServerAppScope}})
		if err != nil {
			return nil, fmt.Errorf("token of the cluster's identity for the API server: %w", err)
		}
		if out.Kubeconfig, err = kubeconfig.WithToken(out.User, token.Token); err != nil {
			return nil, err
		}
		out.ValidFor = max(time.Minute, time.Until(token.ExpiresOn)-tokenMargin)
	}
	return out, nil
}

// PublishSecrets writes the Secrets that Cluster API and users read.
func (c *Credentials) PublishSecrets(ctx context.Context, to published.Publisher) error {
	authority, err := kubeconfig.CertificateAuthority(c.Kubeconfig)
	if err != nil {
		return err
	}
	if err := to.PublishClusterSecret(ctx, to.Cluster+adminSuffix, map[string][]byte{kubeconfigKey: c.Kubeconfig}); err != nil {
		return err
	}
	if c.User != nil {
		if err := to.PublishSecret(ctx, to.Cluster+userSuffix, map[string][]byte{kubeconfigKey: c.User}); err != nil {
			return err
		}
	}
	// The key of the authority is AKS's own. Readers of the Secret want the key to be there.
	return to.PublishClusterSecret(ctx, to.Cluster+"-ca", map[string][]byte{corev1.TLSCertKey: authority, corev1.TLSPrivateKeyKey: []byte("foo")})
}
