package identity

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Keys of the credential Secrets of the Azure Service Operator.
// https://azure.github.io/azure-service-operator/guide/authentication/credential-format/
const (
	operatorSubscription = "AZURE_SUBSCRIPTION_ID"
	operatorTenant       = "AZURE_TENANT_ID"
	operatorClient       = "AZURE_CLIENT_ID"
	operatorSecret       = "AZURE_CLIENT_SECRET"
	operatorCertificate  = "AZURE_CLIENT_CERTIFICATE"
	operatorPassword     = "AZURE_CLIENT_CERTIFICATE_PASSWORD"
	operatorMode         = "AUTH_MODE"
	podIdentity          = "podidentity"
)

// ResolveSecret returns the credential of a Secret in the credential format of the Azure Service Operator, and its subscription.
// The Secret is in the namespace of the objects that name it; no other namespace is read. Errors that need action by a user are
// *Error.
func (p *Provider) ResolveSecret(ctx context.Context, key types.NamespacedName, environment string) (*Resolved, string, error) {
	secret, err := p.secrets.getSecret(ctx, key)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil, "", &Error{Code: SecretNotFound,
				Message: fmt.Sprintf("there is no Secret %s with the credential for Azure. Create it, set another one in the annotation serviceoperator.azure.com/credential-from of the resource manifests, or set spec.identityRef of the AzureASOManagedCluster", key)}
		}
		return nil, "", fmt.Errorf("get Secret %s: %w", key, err)
	}
	text := func(name string) string { return trimNewline(string(secret.Data[name])) }
	for _, required := range []string{operatorSubscription, operatorTenant, operatorClient} {
		if text(required) == "" {
			return nil, "", &Error{Code: SecretKeyMissing, Message: fmt.Sprintf("Secret %s has no key %s", key, required)}
		}
	}
	// This AzureClusterIdentity is not stored; it represents the Secret and has its namespace.
	stands := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	stands.Spec.TenantID, stands.Spec.ClientID, stands.Spec.Type = text(operatorTenant), text(operatorClient), infrav1.WorkloadIdentity
	var m *material
	if p.options.Credential == nil {
		if m, err = p.readOperatorMaterial(ctx, stands, secret); err != nil {
			return nil, "", err
		}
	}
	resolved, err := p.resolveMaterial(stands, m, environment)
	if err != nil {
		return nil, "", err
	}
	resolved.OfSecret = true
	return resolved, text(operatorSubscription), nil
}

// readOperatorMaterial returns the material of the credential in a Secret. stands represents the Secret.
func (p *Provider) readOperatorMaterial(ctx context.Context, stands *infrav1.AzureClusterIdentity, secret *corev1.Secret) (*material, error) {
	text := func(name string) string { return trimNewline(string(secret.Data[name])) }
	m := &material{identity: "Secret " + stands.Namespace + "/" + stands.Name, tenantID: stands.Spec.TenantID, clientID: stands.Spec.ClientID}
	former, _ := FormerOfSecret(secret)
	var err error
	switch {
	case text(operatorSecret) != "":
		m.kind, m.secret = kindSecret, []byte(text(operatorSecret))
	case len(secret.Data[operatorCertificate]) > 0:
		m.kind, m.certificate, m.password = kindCertificate, secret.Data[operatorCertificate], []byte(text(operatorPassword))
		m.source = describeKey(secret, operatorCertificate)
	case text(operatorMode) == podIdentity:
		stands.Spec.Type, m.kind = infrav1.UserAssignedMSI, kindManaged
		err = p.checkManagersOwn(ctx, stands, former, operatorMode+" "+podIdentity, "the identities of the manager's machine",
			"remove it to use workload identity")
	default:
		err = p.selectToken(ctx, stands, m, former)
	}
	return m, err
}
