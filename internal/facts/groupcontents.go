package facts

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// GroupContents returns all resources of a group from Azure's list, with tags and without properties. It returns none if the group
// does not exist.
func (f *Facts) GroupContents(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	items, err := c.List(ctx, string(group)+"/resources", types.ResourcesAPIVersion, nil)
	if arm.IsNotFound(err) {
		return nil, nil
	}
	return items, err
}

// ListLoadBalancers returns the load balancers of a group.
func (f *Facts) ListLoadBalancers(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.listByType(ctx, c, group, types.LoadBalancer)
}

// ListPublicIPAddresses returns the public IP addresses of a group.
func (f *Facts) ListPublicIPAddresses(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.listByType(ctx, c, group, types.PublicIPAddress)
}

// ListDisks returns the disks of a group.
func (f *Facts) ListDisks(ctx context.Context, c *client.Client, group arm.ID) ([]json.RawMessage, error) {
	return f.listByType(ctx, c, group, types.Disk)
}

func (f *Facts) listByType(ctx context.Context, c *client.Client, group arm.ID, resourceType string) ([]json.RawMessage, error) {
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
