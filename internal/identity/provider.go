package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// Kind is the kind that identityRef has to name.
const Kind = "AzureClusterIdentity"

// DefaultTokenFile is where the manager's Deployment mounts the projected service account token.
const DefaultTokenFile = "/var/run/secrets/azure/tokens/azure-identity-token"

// Options configure a Provider. The zero value is usable. Package setup fills them from flags and the environment.
type Options struct {
	// AuthorityHost is AZURE_AUTHORITY_HOST, for a private cloud; "" is the authority of the cluster's cloud.
	AuthorityHost string
	// ResourceManagerEndpoint is AZURE_RESOURCE_MANAGER_ENDPOINT; "" is that of the cluster's cloud.
	ResourceManagerEndpoint string
	// ResourceManagerAudience is AZURE_RESOURCE_MANAGER_AUDIENCE; "" is that of the cluster's cloud.
	ResourceManagerAudience string
	// TokenFile is AZURE_FEDERATED_TOKEN_FILE; "" is DefaultTokenFile.
	TokenFile string
	// SubscriptionID is AZURE_SUBSCRIPTION_ID, for objects that name no subscription.
	SubscriptionID string
	// Tenancy is the trust in CredentialSelectors; "" is Isolated.
	Tenancy Tenancy
	// ManagerNamespaces are the namespaces whose identities and Secrets for resource manifests may use the manager's own credentials if
	// tenants are isolated: its token file, the managed identities of its machine, and its files.
	ManagerNamespaces []string
	// CertificateFolder is the folder that files of spec.certPath must be in; "" allows any.
	CertificateFolder string
	// FormerNamespace is the namespace of the ConfigMap with the credentials that were in use before the upgrade from the established
	// provider; "" is none.
	FormerNamespace string
	// Transport sends the requests for tokens; nil means azcore's default.
	Transport policy.Transporter
	// Secrets reads the metadata of watched Secrets, as PartialObjectMetadata. A Secret whose metadata has not changed is not read
	// again. If Secrets is nil, a Secret is read each time it is needed.
	Secrets client.Reader
	// Now is the clock for the expiry of ServiceAccount tokens; nil means time.Now.
	Now func() time.Time
	// Credential replaces the credentials of all identities: no Secret, file or token of an identity is read. The checks of namespaces
	// remain. Nil replaces none.
	Credential azcore.TokenCredential
}

// Provider resolves identities. It is safe for concurrent use.
type Provider struct {
	kubernetes  Kubernetes
	options     Options
	credentials *credentials
	assertions  *assertions
	secrets     *secrets
	formers     *formers
	answers     *answers
}

// Kubernetes reads objects and requests tokens of ServiceAccounts.
type Kubernetes interface {
	client.Reader
	client.SubResourceClientConstructor
}

// New returns a Provider. A rotated Secret takes effect at the next call after options.Secrets has its new version, or at the next
// call if options.Secrets is nil and kubernetes does not read Secrets from a cache. kubernetes also reads AzureClusterIdentities
// and, for identities with a namespace selector, the metadata of Namespaces.
func New(kubernetes Kubernetes, options Options) *Provider {
	if options.TokenFile = strings.TrimSpace(options.TokenFile); options.TokenFile == "" {
		options.TokenFile = DefaultTokenFile
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Provider{
		kubernetes: kubernetes, options: options, credentials: newCredentials(options.Now), answers: newAnswers(),
		secrets:    &secrets{live: kubernetes, metadata: options.Secrets, read: expiring.NewIdle[versioned](unused, maxKept, options.Now)},
		assertions: &assertions{kubernetes: kubernetes, now: options.Now, kept: map[types.NamespacedName]assertion{}},
		formers:    newFormers(kubernetes, options.FormerNamespace, options.Now),
	}
}

// Resolve reads the identity that ref names for an object in namespace, checks that the namespace may use it before it reads
// anything secret, and returns a credential for the cloud environment. A ref without a namespace means the object's own. Errors
// that need action by a user are *Error.
func (p *Provider) Resolve(ctx context.Context, ref *corev1.ObjectReference, namespace string, environment string) (*Resolved, error) {
	identity, err := p.GetIdentity(ctx, ref, namespace)
	if err != nil {
		return nil, err
	}
	if err := p.checkNamespace(ctx, identity, namespace); err != nil {
		return nil, err
	}
	resolved, err := p.resolveIdentity(ctx, identity, environment)
	if err == nil {
		p.answers.addUser(identity, environment, resolved.Key)
	}
	return resolved, err
}

// CheckCredential returns an error if no credential can be made of the identity: if its type is not supported, or if its Secret, keys or file
// are missing or do not parse. It sends no requests to Entra ID and does not check namespaces.
func (p *Provider) CheckCredential(ctx context.Context, identity *infrav1.AzureClusterIdentity) error {
	_, err := p.resolveIdentity(ctx, identity, "")
	return err
}

// resolveIdentity returns the credential of an identity that the caller may use.
func (p *Provider) resolveIdentity(ctx context.Context, identity *infrav1.AzureClusterIdentity, environment string) (*Resolved, error) {
	configuration, _, err := p.options.CloudConfiguration(environment)
	if err != nil {
		return nil, err
	}
	if p.options.Credential != nil {
		return p.replaceCredential(identity, configuration), nil
	}
	material, err := p.readMaterial(ctx, identity)
	if err != nil {
		return nil, err
	}
	return p.resolveMaterial(identity, material, environment)
}

// resolveMaterial returns the credential of material that was read for an identity.
func (p *Provider) resolveMaterial(identity *infrav1.AzureClusterIdentity, material *material, environment string) (*Resolved, error) {
	configuration, customAuthority, err := p.options.CloudConfiguration(environment)
	if err != nil {
		return nil, err
	}
	if p.options.Credential != nil {
		return p.replaceCredential(identity, configuration), nil
	}
	material.cloud, material.customAuthority, material.transport = configuration, customAuthority, p.options.Transport
	key, credential, err := p.credentials.getOrCreate(material)
	if err != nil {
		return nil, err
	}
	credential = answering{TokenCredential: credential, key: key, answers: p.answers}
	resolved := &Resolved{Identity: identity, Credential: credential, Cloud: configuration, Key: key}
	if secret := trimNewline(string(material.secret)); secret != "" {
		resolved.secret = func() string { return secret }
	}
	return resolved, nil
}

// replaceCredential returns an identity with the credential of the options.
func (p *Provider) replaceCredential(identity *infrav1.AzureClusterIdentity, configuration cloud.Configuration) *Resolved {
	key := sha256.Sum256([]byte(describeIdentity(identity) + configuration.ActiveDirectoryAuthorityHost))
	resolved := &Resolved{Identity: identity, Credential: p.options.Credential, Cloud: configuration, Key: hex.EncodeToString(key[:])}
	if of := identity.Spec.Type; of == infrav1.ServicePrincipal || of == infrav1.ManualServicePrincipal {
		// Controllers warn about identities without a client secret, and this one has one that is not read.
		resolved.secret = func() string { return "not-read" }
	}
	return resolved
}

// GetIdentity reads the object that ref names for an object in namespace.
func (p *Provider) GetIdentity(ctx context.Context, ref *corev1.ObjectReference, namespace string) (*infrav1.AzureClusterIdentity, error) {
	if ref == nil || ref.Name == "" {
		return nil, &Error{Code: IdentityNotFound, Message: "spec.identityRef: set identityRef to an AzureClusterIdentity"}
	}
	if ref.Kind != "" && ref.Kind != Kind {
		return nil, &Error{Code: NotSupported, Message: fmt.Sprintf("spec.identityRef.kind: %q is not supported, use %s", ref.Kind, Kind)}
	}
	key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = namespace
	}
	identity := &infrav1.AzureClusterIdentity{}
	if err := p.kubernetes.Get(ctx, key, identity); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, &Error{Code: IdentityNotFound, Message: fmt.Sprintf("spec.identityRef: there is no %s %s", Kind, key)}
		}
		return nil, fmt.Errorf("get %s %s: %w", Kind, key, err)
	}
	return identity, nil
}

// checkNamespace reads the labels of the namespace only when the answer depends on them.
func (p *Provider) checkNamespace(ctx context.Context, identity *infrav1.AzureClusterIdentity, namespace string) error {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if asksLabels(identity, namespace) {
		if err := p.kubernetes.Get(ctx, types.NamespacedName{Name: namespace}, object); err != nil {
			return fmt.Errorf("get Namespace %s, whose labels spec.allowedNamespaces.selector of %s asks for: %w", namespace,
				describeIdentity(identity), err)
		}
	}
	if IsNamespaceAllowed(identity, namespace, object.Labels) {
		return nil
	}
	return &Error{Code: NamespaceNotAllowedByIdentity, Message: fmt.Sprintf(
		"namespace %s may not use %s: its spec.allowedNamespaces does not include it", namespace, describeIdentity(identity))}
}

// ResolveSubscription returns the subscription that an object names, or else the manager's own.
func (p *Provider) ResolveSubscription(specified string) (string, error) {
	for _, subscription := range []string{specified, p.options.SubscriptionID} {
		if subscription = trimNewline(subscription); subscription != "" {
			return subscription, nil
		}
	}
	return "", &Error{Code: SubscriptionMissing,
		Message: "spec.subscriptionID: set a subscription, or start the manager with AZURE_SUBSCRIPTION_ID"}
}

func describeIdentity(identity *infrav1.AzureClusterIdentity) string {
	return Kind + " " + identity.Namespace + "/" + identity.Name
}

// trimNewline removes one trailing newline.
func trimNewline(s string) string { return strings.TrimSuffix(s, "\n") }
