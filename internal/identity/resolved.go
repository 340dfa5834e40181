package identity

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Resolved is an identity with its credential.
type Resolved struct {
	// Identity is the object as read; do not change it.
	Identity *infrav1.AzureClusterIdentity
	// Credential returns tokens. It is shared and safe for concurrent use.
	Credential azcore.TokenCredential
	// Cloud has the endpoints of the authority and of Resource Manager.
	Cloud cloud.Configuration
	// Key is a hash of all parts of the credential, including the secret. Equal credentials have equal keys within one process;
	// keys of different processes cannot be compared.
	Key string
	// OfSecret is true if Identity represents a Secret that the object names, and is not stored.
	OfSecret bool

	// secret is a function so that printing a Resolved shows no value.
	secret func() string
}

// CloudConfigSecret has the fields of azure.json about the identity. ClientSecret is "" for types without one.
type CloudConfigSecret struct {
	TenantID     string
	ClientID     string
	ClientSecret string
}

// String leaves the secret out.
func (CloudConfigSecret) String() string { return "CloudConfigSecret{...}" }

// GoString leaves the secret out.
func (s CloudConfigSecret) GoString() string { return s.String() }

// CloudConfigSecret returns the fields of azure.json about the identity, without the trailing newline of values from files and
// copied Secrets.
func (r *Resolved) CloudConfigSecret() CloudConfigSecret {
	out := CloudConfigSecret{TenantID: trimNewline(r.Identity.Spec.TenantID), ClientID: trimNewline(r.Identity.Spec.ClientID)}
	if r.secret != nil {
		out.ClientSecret = r.secret()
	}
	return out
}
