package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const subscriptionsAPIVersion = "2022-12-01"

// regions are the regions of a subscription.
type regions struct {
	names []string
	// hidden means that the principal may not list the regions, for example because its role covers only a resource group.
	hidden bool
}

// checkClusterRegion checks that the subscription exists and has the cluster's region.
func (f *Facts) checkClusterRegion(ctx context.Context, caller Caller, in plan.ClusterInput) error {
	return f.CheckRegion(ctx, caller, in.SubscriptionID, in.AzureCluster.Spec.Location)
}

// CheckRegion checks that the subscription exists and has a region. An unknown region is a *field.Error on spec.location with the
// most similar names, an unknown subscription the *arm.Error of Azure.
func (f *Facts) CheckRegion(ctx context.Context, caller Caller, subscription, location string) error {
	known, err := f.regions.getOrAsk(ctx, caller, caller.scopedKey(strings.ToLower(subscription)), func(ctx context.Context) (*regions, error) {
		return listRegions(ctx, caller.Client, subscription)
	})
	if err != nil {
		return fmt.Errorf("regions of subscription %s: %w", subscription, err)
	}
	if known.hidden || slices.Contains(known.names, plan.NormalizeRegion(location)) {
		return nil
	}
	detail := fmt.Sprintf("is not a region of subscription %s", subscription)
	if names := nearest.FindNames(location, known.names); len(names) > 0 {
		detail += "; names most like it: " + strings.Join(names, ", ")
	}
	return field.Invalid(field.NewPath("spec", "location"), location, detail)
}

func listRegions(ctx context.Context, c *client.Client, subscription string) (*regions, error) {
	items, err := c.List(ctx, string(arm.SubscriptionID(subscription))+"/locations", subscriptionsAPIVersion, nil)
	if arm.IsForbidden(err) {
		return &regions{hidden: true}, nil
	}
	if err != nil {
		return nil, err
	}
	out := &regions{}
	for _, item := range items {
		var region struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(item, &region); err != nil {
			return nil, err
		}
		out.names = append(out.names, plan.NormalizeRegion(region.Name))
	}
	return out, nil
}
