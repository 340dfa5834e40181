package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/kubeconfig"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// tokenMargin is how long before its end a token is replaced. The credential has a new one only in the last five minutes.
const tokenMargin = 4 * time.Minute

// forever is how long a kubeconfig holds that does not expire.
const forever = 365 * 24 * time.Hour

// credentials are the kubeconfigs of a cluster.
type credentials struct {
	// kubeconfig is what Cluster API uses: that of the local administrator, or where there are no local accounts one with
	// a token of the cluster's identity.
	kubeconfig []byte
	// admin and user are the kubeconfigs as AKS answers them; nil when not asked for.
	admin, user []byte
	// holds is how long kubeconfig can be used.
	holds time.Duration
}

// credentials asks AKS for the kubeconfigs, on every full pass, because they are rotated, and writes the Secrets that
// Cluster API and users read.
func (k *Kind) credentials(ctx context.Context, access *access.Access, in *input, observed json.RawMessage) (*credentials, error) {
	out := &credentials{holds: forever}
	id := plan.ClusterID(in.planned)
	entra, localDisabled := plan.AADManaged(observed), plan.LocalAccountsDisabled(observed)
	var err error
	if !localDisabled {
		if out.admin, err = k.Facts.Kubeconfig(ctx, access.Client, id, facts.AdminCredential); err != nil {
			return nil, fmt.Errorf("kubeconfig of the administrator: %w", err)
		}
		out.kubeconfig = out.admin
	}
	if entra {
		if out.user, err = k.Facts.Kubeconfig(ctx, access.Client, id, facts.UserCredential); err != nil {
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
		if out.kubeconfig, err = kubeconfig.WithToken(out.user, token.Token); err != nil {
			return nil, err
		}
		out.holds = max(time.Minute, time.Until(token.ExpiresOn)-tokenMargin)
	}
	return out, k.writeCredentials(ctx, in, out)
}

func (k *Kind) writeCredentials(ctx context.Context, in *input, credentials *credentials) error {
	authority, err := kubeconfig.Authority(credentials.kubeconfig)
	if err != nil {
		return err
	}
	name := in.cluster.Name
	if err := k.apply(ctx, in, newSecret(in, name+"-kubeconfig", map[string][]byte{"value": credentials.kubeconfig})); err != nil {
		return err
	}
	if credentials.user != nil {
		if err := k.apply(ctx, in, newSecret(in, name+"-kubeconfig-user", map[string][]byte{"value": credentials.user})); err != nil {
			return err
		}
	}
	// The key of the authority is AKS's own. Readers of the Secret want the key to be there.
	return k.apply(ctx, in, newSecret(in, name+"-ca", map[string][]byte{
		corev1.TLSCertKey: authority, corev1.TLSPrivateKeyKey: []byte("foo"),
	}))
}
