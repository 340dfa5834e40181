package facts

import (
	"context"
	"encoding/json"
	"net/url"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// ListGroupResources returns the resources of a group with their tags and createdTime, from the list of Resource Manager. It returns
// none if the group does not exist.
// https://learn.microsoft.com/en-us/rest/api/resources/resources/list-by-resource-group
func (f *Facts) ListGroupResources(ctx context.Context, caller Caller, group arm.ID) ([]json.RawMessage, error) {
	return f.listWithCreatedTime(ctx, caller, string(group)+"/resources")
}

// ListResourceGroups returns the resource groups of a subscription that the identity may read, with their tags and createdTime. The
// reference of the list has no $expand. That it accepts createdTime like the list of resources is an assumption from scripts that
// use it. A group without createdTime in the answer has no known date.
// https://learn.microsoft.com/en-us/rest/api/resources/resource-groups/list
func (f *Facts) ListResourceGroups(ctx context.Context, caller Caller, subscription string) ([]json.RawMessage, error) {
	return f.listWithCreatedTime(ctx, caller, string(arm.SubscriptionID(subscription))+"/resourcegroups")
}

func (f *Facts) listWithCreatedTime(ctx context.Context, caller Caller, path string) ([]json.RawMessage, error) {
	items, err := askUnlessFailed(ctx, f.failures, caller, caller.scopedKey(path+"|createdTime"),
		func(ctx context.Context) ([]json.RawMessage, error) {
			return caller.Client.List(ctx, path, types.ResourcesAPIVersion, url.Values{"$expand": {"createdTime"}})
		})
	if arm.IsNotFound(err) {
		return nil, nil
	}
	return items, err
}
