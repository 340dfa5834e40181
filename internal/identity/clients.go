package identity

import (
	"fmt"
	"time"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// Clients gives one Resource Manager client per credential, so that connections, budgets and cached reads are shared by
// all objects of an identity and by nobody else.
type Clients struct {
	options armclient.Options
	recent  *recent[*armclient.Client]
}

// NewClients makes an empty set. A client goes when nobody has asked for it for an hour. options are those of every client; Principal is filled in.
func NewClients(options armclient.Options) *Clients {
	now := options.Now
	if now == nil {
		now = time.Now
	}
	return &Clients{options: options, recent: newRecent[*armclient.Client](maxKept, now)}
}

// For gives the client of a resolved identity. It does not talk to Azure.
func (c *Clients) For(resolved *Resolved) (*armclient.Client, error) {
	client, err := c.recent.get(resolved.Key, func() (*armclient.Client, error) {
		options := c.options
		// The key is part of the name because reads are shared by principal: who only claims a client ID must not get
		// what the owner of its secret has read.
		options.Principal = trim(resolved.Identity.Spec.ClientID) + "/" + resolved.Key[:12]
		return armclient.New(resolved.Credential, resolved.Cloud, options)
	})
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", describe(resolved.Identity), err)
	}
	return client, nil
}
