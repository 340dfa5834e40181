package identity

import (
	"fmt"
	"time"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/expiring"
)

// Clients has one Resource Manager client per credential. All objects of an identity share its connections, budgets and cached
// reads, and no other objects do.
type Clients struct {
	options armclient.Options
	recent  *expiring.Cache[*armclient.Client]
}

// NewClients returns an empty set. A client that was not used for an hour is dropped. options apply to every client; Principal is
// set by the set.
func NewClients(options armclient.Options) *Clients {
	now := options.Now
	if now == nil {
		now = time.Now
	}
	return &Clients{options: options, recent: expiring.NewIdle[*armclient.Client](unused, maxKept, now)}
}

// ClientFor returns the client of a resolved identity. It sends no requests to Azure.
func (c *Clients) ClientFor(resolved *Resolved) (*armclient.Client, error) {
	client, err := c.recent.GetOrMake(resolved.Key, func() (*armclient.Client, error) {
		options := c.options
		// Reads are shared by principal. The key is part of its name, so that an identity which names a client ID without its
		// secret cannot see the reads of the identity with the secret.
		options.Principal = trimNewline(resolved.Identity.Spec.ClientID) + "/" + resolved.Key[:12]
		return armclient.New(resolved.Credential, resolved.Cloud, options)
	})
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", describeIdentity(resolved.Identity), err)
	}
	return client, nil
}
