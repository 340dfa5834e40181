package identity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Keys of credential Secrets.
const (
	keyClientSecret = "clientSecret"
	keyCertificate  = "certificate"
	keyPassword     = "password"
)

// material has all parts of a credential.
type material struct {
	kind     kind
	identity string
	// source is the place of the certificate, for messages.
	source      string
	tenantID    string
	clientID    string
	secret      []byte
	certificate []byte
	password    []byte
	tokenFile   string
	// subject is the subject of the tokens that assertion returns.
	subject         string
	assertion       func(context.Context) (string, error)
	cloud           cloud.Configuration
	customAuthority bool
	transport       policy.Transporter
}

// kind is a method of getting tokens.
type kind string

const (
	kindSecret      kind = "client secret"
	kindCertificate kind = "client certificate"
	kindWorkload    kind = "workload identity"
	kindManaged     kind = "managed identity"
	// kindServiceAccount is a workload identity that signs in with a ServiceAccount token of its own namespace.
	kindServiceAccount kind = "workload identity of a namespace"
)

// readMaterial reads the parts of the credential that the identity's type needs.
func (p *Provider) readMaterial(ctx context.Context, identity *infrav1.AzureClusterIdentity) (*material, error) {
	spec := &identity.Spec
	m := &material{identity: describeIdentity(identity), tenantID: trimNewline(spec.TenantID), clientID: trimNewline(spec.ClientID)}
	if m.clientID == "" {
		return nil, &Error{Code: CredentialsInvalid, Message: m.identity + ": spec.clientID is empty"}
	}
	if m.tenantID == "" && spec.Type != infrav1.UserAssignedMSI {
		return nil, &Error{Code: CredentialsInvalid, Message: m.identity + ": spec.tenantID is empty"}
	}
	var err error
	switch spec.Type {
	case infrav1.WorkloadIdentity:
		err = p.selectToken(ctx, identity, m, FormerOf(identity))
	case infrav1.ServicePrincipal, infrav1.ManualServicePrincipal:
		m.kind = kindSecret
		m.secret, err = p.readClientSecret(ctx, identity)
	case infrav1.ServicePrincipalCertificate:
		m.kind = kindCertificate
		err = p.readCertificate(ctx, identity, m)
	case infrav1.UserAssignedMSI:
		m.kind = kindManaged
		err = p.checkManagersOwn(ctx, identity, FormerOf(identity), "spec.type "+string(spec.Type), "the identities of the manager's machine",
			"use "+string(infrav1.WorkloadIdentity)+" in a new AzureClusterIdentity")
	case infrav1.UserAssignedIdentityCredential:
		err = &Error{Code: NotSupported, Message: fmt.Sprintf(
			"%s: spec.type %s is not supported yet, use %s, %s or %s", m.identity, spec.Type,
			infrav1.WorkloadIdentity, infrav1.ServicePrincipal, infrav1.UserAssignedMSI)}
	default:
		err = &Error{Code: NotSupported, Message: fmt.Sprintf("%s: spec.type %q is not supported", m.identity, spec.Type)}
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// readClientSecret returns the password of a service principal.
func (p *Provider) readClientSecret(ctx context.Context, identity *infrav1.AzureClusterIdentity) ([]byte, error) {
	secret, err := p.readSecret(ctx, identity)
	if err != nil {
		return nil, err
	}
	value := []byte(trimNewline(string(secret.Data[keyClientSecret])))
	if len(value) == 0 {
		return nil, missingKey(identity, secret, keyClientSecret)
	}
	return value, nil
}

// readCertificate sets the certificate with its private key in PEM or PKCS#12 form, and the password of the latter. It comes from
// the file of spec.certPath, or from the Secret: from the key "certificate" with "password" or, as in the established provider,
// from "clientSecret" without a password.
func (p *Provider) readCertificate(ctx context.Context, identity *infrav1.AzureClusterIdentity, m *material) (err error) {
	if path := identity.Spec.CertPath; path != "" {
		if err = p.checkManagersOwn(ctx, identity, FormerOf(identity), "spec.certPath", "the manager's files",
			"put the certificate into a Secret that spec.clientSecret names"); err != nil {
			return err
		}
		if m.certificate, err = readFile(p.options.CertificateFolder, path); err != nil {
			return &Error{Code: SecretNotFound,
				Message: describeIdentity(identity) + ": spec.certPath cannot be read in the manager's container", Err: err}
		}
		m.source = "the file of spec.certPath"
		return nil
	}
	secret, err := p.readSecret(ctx, identity)
	if err != nil {
		return err
	}
	if m.certificate = secret.Data[keyCertificate]; len(m.certificate) > 0 {
		m.source, m.password = describeKey(secret, keyCertificate), []byte(trimNewline(string(secret.Data[keyPassword])))
		return nil
	}
	if m.certificate = secret.Data[keyClientSecret]; len(m.certificate) > 0 {
		m.source = describeKey(secret, keyClientSecret)
		return nil
	}
	return missingKey(identity, secret, keyCertificate)
}

// describeKey returns the words for a value of a Secret in messages.
func describeKey(secret *corev1.Secret, key string) string {
	return fmt.Sprintf("key %q of Secret %s/%s", key, secret.Namespace, secret.Name)
}

// readSecret reads spec.readClientSecret, if the identity may use it.
func (p *Provider) readSecret(ctx context.Context, identity *infrav1.AzureClusterIdentity) (*corev1.Secret, error) {
	key, ok := SecretOf(identity)
	if !ok {
		return nil, &Error{Code: SecretNotFound,
			Message: fmt.Sprintf("%s: spec.clientSecret.name is empty, and spec.type %s needs a Secret", describeIdentity(identity),
				identity.Spec.Type)}
	}
	secret, err := p.secrets.getSecret(ctx, key)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("get Secret %s of %s: %w", key, describeIdentity(identity), err)
		}
		if err := p.checkSecret(ctx, identity, key, nil); err != nil {
			return nil, err
		}
		return nil, &Error{Code: SecretNotFound,
			Message: fmt.Sprintf("%s: spec.clientSecret: there is no Secret %s", describeIdentity(identity), key)}
	}
	if err := p.checkSecret(ctx, identity, key, secret); err != nil {
		return nil, err
	}
	return secret, nil
}

func missingKey(identity *infrav1.AzureClusterIdentity, secret *corev1.Secret, key string) error {
	return &Error{Code: SecretKeyMissing, Message: fmt.Sprintf(
		"%s: spec.clientSecret: Secret %s/%s has no value under key %q", describeIdentity(identity), secret.Namespace, secret.Name, key)}
}
