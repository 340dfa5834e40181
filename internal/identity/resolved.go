package identity

import (
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Resolved is an identity that is ready to ask Azure with.
type Resolved struct {
	// Identity is the object as read; do not change it.
	Identity *infrav1.AzureClusterIdentity
	// Credential gives tokens. It is shared and safe for concurrent use.
	Credential azcore.TokenCredential
	// Cloud has the authority and the Resource Manager.
	Cloud cloud.Configuration
	// Key is a hash of everything the credential is made of, the secret included. It is equal for equal credentials
	// within one process and means nothing outside of it.
	Key string
	// OfSecret tells that Identity stands for a Secret that the object names itself, and is no object.
	OfSecret bool

	// secret is a function so that printing a Resolved shows no value.
	secret func() string
}

// CloudConfigSecret is what azure.json says about the identity. ClientSecret is "" for types without one.
type CloudConfigSecret struct {
	TenantID     string
	ClientID     string
	ClientSecret string
}

// String leaves the secret out.
func (CloudConfigSecret) String() string { return "CloudConfigSecret{...}" }

// GoString leaves the secret out.
func (s CloudConfigSecret) GoString() string { return s.String() }

// CloudConfigSecret is what azure.json says about the identity, each value without the newline that files and
// copied Secrets end with.
func (r *Resolved) CloudConfigSecret() CloudConfigSecret {
	out := CloudConfigSecret{TenantID: trim(r.Identity.Spec.TenantID), ClientID: trim(r.Identity.Spec.ClientID)}
	if r.secret != nil {
		out.ClientSecret = r.secret()
	}
	return out
}
