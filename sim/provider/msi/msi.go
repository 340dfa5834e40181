// Package msi simulates Microsoft.ManagedIdentity: user-assigned identities and their federated credentials.
package msi

import (
	"net/url"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// Identities is the full name of the type of user-assigned identities.
const Identities = "Microsoft.ManagedIdentity/userAssignedIdentities"

// Provider returns the resource provider.
func Provider() *provider.Provider {
	identity := &provider.Type{
		Name: Identities, Style: provider.Sync, NoState: true, LowerID: true, DeleteStatus: 200, LocationHeader: true,
		Create: provider.Timing{HTTP: 1800 * time.Millisecond}, Delete: provider.Timing{HTTP: 5300 * time.Millisecond},
		ReadOnlyPaths: []string{"properties.tenantId", "properties.principalId", "properties.clientId"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			for _, k := range []string{"principalId", "clientId"} {
				if old := body.String(d.Old, "properties."+k); old != "" {
					body.Set(d.New, "properties."+k, old)
				} else {
					body.Set(d.New, "properties."+k, c.NewGUID())
				}
			}
			body.Set(d.New, "properties.tenantId", c.Tenant)
			body.Default(d.New, "tags", body.Object{})
			return nil
		},
	}
	federated := &provider.Type{
		Name: Identities + "/federatedIdentityCredentials", Style: provider.Sync, NoState: true, LowerID: true, Untracked: true,
		LocationHeader: true,
		Create:         provider.Timing{HTTP: time.Second}, Delete: provider.Timing{HTTP: time.Second},
		Prepare: prepareFederated,
	}
	return &provider.Provider{Namespace: "Microsoft.ManagedIdentity", Types: []*provider.Type{identity, federated}}
}

// maxFederated is the number of credentials that Azure allows per identity. Source: https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const maxFederated = 20

func prepareFederated(c *provider.Call, d *provider.Draft) error {
	issuer, subject := body.String(d.New, "properties.issuer"), body.String(d.New, "properties.subject")
	if u, err := url.Parse(issuer); err != nil || u.Scheme != "https" || u.Host == "" {
		return provider.Errorf(400, "InvalidFederatedIdentityCredentialValue", "The issuer '%s' must be a valid HTTPS URL.", issuer)
	}
	if subject == "" || len(body.Strings(d.New, "properties.audiences")) != 1 {
		return provider.Errorf(400, "InvalidFederatedIdentityCredentialValue",
			"A federated identity credential needs a subject and exactly one audience.")
	}
	siblings := c.List(c.Type.Name, c.ID.Parent().String())
	for _, s := range siblings {
		if s.Name() != d.Name && body.String(s.Body, "properties.issuer") == issuer && body.String(s.Body, "properties.subject") == subject {
			return provider.Errorf(409, "Conflict", "Issuer and subject combination already exists for this Managed Identity.")
		}
	}
	if d.Old == nil && len(siblings) >= maxFederated {
		return provider.Errorf(400, "BadRequest",
			"Too many Federated Identity Credentials are configured on the Managed Identity. The maximum is %d.", maxFederated)
	}
	return nil
}
