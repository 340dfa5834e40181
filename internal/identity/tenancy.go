package identity

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Tenancy is the trust in CredentialSelectors.
type Tenancy string

// CredentialSelectors describes the users who select the credential of clusters. Objects of the AzureASOManaged kinds sign in with a
// Secret of their namespace, which names a credential as an identity does.
const CredentialSelectors = "users who may create an AzureClusterIdentity, or a Secret and an AzureASOManaged object"

const (
	// Isolated restricts the credentials of a namespace to identities of that namespace, and the manager's own to namespaces that
	// the administrator of the management cluster lists.
	Isolated Tenancy = "isolated"
	// Trusted lets every identity use every Secret that it names, and the manager's own identities and files. Secrets with the credential
	// of resource manifests can name the manager's own identities as well.
	Trusted Tenancy = "trusted"
)

// Flags of the manager that messages name.
const (
	TenancyFlag           = "tenancy"
	ManagerNamespacesFlag = "manager-identity-namespaces"
	CertificateFolderFlag = "identity-certificate-folder"
)

// DefaultCertificateFolder is the folder of mounted certificates that spec.certPath names.
const DefaultCertificateFolder = "/var/run/secrets/azure/certificates"

// SecretOf returns the key of the Secret with the identity's credential. Without a namespace it is in the identity's own. ok is
// false if the identity uses no Secret.
func SecretOf(identity *infrav1.AzureClusterIdentity) (key types.NamespacedName, ok bool) {
	spec := identity.Spec
	switch spec.Type {
	case infrav1.ServicePrincipal, infrav1.ManualServicePrincipal:
	case infrav1.ServicePrincipalCertificate:
		if spec.CertPath != "" {
			return key, false
		}
	default:
		return key, false
	}
	key = types.NamespacedName{Namespace: cmp.Or(spec.ClientSecret.Namespace, identity.Namespace), Name: spec.ClientSecret.Name}
	return key, key.Name != ""
}

// TrustsTenants returns true if CredentialSelectors are trusted.
func (p *Provider) TrustsTenants() bool { return p.options.Tenancy == Trusted }

// MayUse returns true if an identity may use a Secret of this namespace and with these annotations.
func (p *Provider) MayUse(ctx context.Context, identity *infrav1.AzureClusterIdentity, secretNamespace string,
	annotations map[string]string) (bool, error) {
	namespace := identity.Namespace
	if p.TrustsTenants() || namespace == secretNamespace {
		return true, nil
	}
	allowed := slices.ContainsFunc(strings.Split(annotations[infrav1.IdentityNamespacesAnnotation], ","), func(allowed string) bool {
		allowed = strings.TrimSpace(allowed)
		return allowed == "*" || allowed == namespace
	})
	if allowed {
		return true, nil
	}
	return p.formers.isRecorded(ctx, FormerOf(identity))
}

// checkSecret refuses a Secret of another namespace that does not allow the identity's namespace. secret is nil if it does not
// exist; the error is the same, so that it does not reveal whether the Secret exists.
func (p *Provider) checkSecret(ctx context.Context, identity *infrav1.AzureClusterIdentity, key types.NamespacedName,
	secret *corev1.Secret) error {
	var annotations map[string]string
	if secret != nil {
		annotations = secret.Annotations
	}
	if allowed, err := p.MayUse(ctx, identity, key.Namespace, annotations); allowed || err != nil {
		return err
	}
	return &Error{Code: NotAllowedByTenancy, Message: fmt.Sprintf(
		"%s: spec.clientSecret: the manager runs with --%s=%s, and there is no Secret %s that lets identities of namespace %s use it: run kubectl annotate secret -n %s %s %s=%s, or move the Secret to namespace %s",
		describeIdentity(identity), TenancyFlag, Isolated, key, identity.Namespace, key.Namespace, key.Name, infrav1.IdentityNamespacesAnnotation,
		identity.Namespace, identity.Namespace)}
}

// mayUseManagersOwn returns true if identities of a namespace may use the manager's token, its machine's identities and its files.
func (p *Provider) mayUseManagersOwn(namespace string) bool {
	return p.TrustsTenants() || slices.Contains(p.options.ManagerNamespaces, namespace)
}

// checkManagersOwn refuses the manager's own credentials to namespaces that the administrator does not list, unless their former use is
// recorded.
func (p *Provider) checkManagersOwn(ctx context.Context, identity *infrav1.AzureClusterIdentity, former Former, field, what,
	instead string) error {
	if p.mayUseManagersOwn(identity.Namespace) {
		return nil
	}
	if recorded, err := p.formers.isRecorded(ctx, former); recorded || err != nil {
		return err
	}
	return &Error{Code: NotAllowedByTenancy, Message: fmt.Sprintf(
		"%s: %s: the manager runs with --%s=%s, and only namespaces of its --%s may use %s. Add namespace %s there, or %s",
		describeIdentity(identity), field, TenancyFlag, Isolated, ManagerNamespacesFlag, what, identity.Namespace, instead)}
}
