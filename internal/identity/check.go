package identity

import (
	"context"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Check tells whether a credential can be made of the identity: its type is known, and the Secret or file is there and
// holds what the type needs. Entra ID is not asked. Errors that a person has to act on are *Error.
func (p *Provider) Check(ctx context.Context, identity *infrav1.AzureClusterIdentity) error {
	material, err := p.material(ctx, identity)
	if err != nil {
		return err
	}
	configuration, customAuthority, err := p.options.Cloud("")
	if err != nil {
		return err
	}
	material.cloud, material.customAuthority, material.transport = configuration, customAuthority, p.options.Transport
	_, _, err = p.credentials.get(material)
	return err
}
