package facts

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Contents are all resources of a group as Azure's list shows them, with tags and without properties. There are none of a group that does
// not exist.
func (f *Facts) Contents(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	items, err := c.List(ctx, string(group)+"/resources", types.ResourcesAPIVersion, nil)
	if arm.IsNotFound(err) {
		return nil, nil
	}
	return items, err
}

// LoadBalancers are those of a group.
func (f *Facts) LoadBalancers(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.ofType(ctx, c, group, types.LoadBalancer)
}

// PublicIPAddresses are those of a group.
func (f *Facts) PublicIPAddresses(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.ofType(ctx, c, group, types.PublicIPAddress)
}

// Disks are those of a group.
func (f *Facts) Disks(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.ofType(ctx, c, group, types.Disk)
}

func (f *Facts) ofType(ctx context.Context, c *client.Client, group arm.ID, resourceType string) ([]json.RawMessage, error) {
	of := arm.NewID(group.Subscription(), group.ResourceGroup(), resourceType, "any")
	row, err := types.ForID(of)
	if err != nil {
		return nil, err
	}
	items, err := c.List(ctx, types.ListPath(of), row.APIVersion, nil)
	if arm.IsNotFound(err) {
		return nil, nil
	}
	return items, err
}
