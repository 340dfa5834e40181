package readonly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
)

// childCollections are the collections below a managed cluster other than its pools. extensionTypes are the types of its extensions.
var (
	childCollections = []string{"maintenanceConfigurations", "trustedAccessRoleBindings"}
	extensionTypes   = []string{types.ClusterExtension, "Microsoft.KubernetesConfiguration/fluxConfigurations"}
)

// ReadCluster reads the cluster with an ID. The api-version applies to the cluster and the resources below it.
func ReadCluster(ctx context.Context, c *client.Client, id arm.ID, apiVersion string) (adoption.ObservedCluster, error) {
	out := adoption.ObservedCluster{APIVersion: apiVersion}
	response, err := c.Get(ctx, id, apiVersion, nil)
	if err != nil {
		return out, fmt.Errorf("read the AKS cluster: %w", err)
	}
	out.Cluster = adoption.Resource{ID: id, APIVersion: apiVersion, Body: response.Body}
	if out.Pools, err = listCollection(ctx, c, string(id)+"/agentPools", apiVersion); err != nil {
		return out, fmt.Errorf("list its pools: %w", err)
	}
	// The network of the cluster is that of a system pool, which is kept.
	slices.SortStableFunc(out.Pools, func(a, b adoption.Resource) int { return strings.Compare(poolMode(a), poolMode(b)) })
	for _, collection := range childCollections {
		more, err := listCollection(ctx, c, string(id)+"/"+collection, apiVersion)
		if err != nil && !isUnsupported(err) {
			return out, fmt.Errorf("list its %s: %w", collection, err)
		}
		out.Related = append(out.Related, more...)
	}
	for _, collection := range extensionTypes {
		row, err := types.ForID(id.Extension(collection, "any"))
		if err != nil {
			return out, err
		}
		more, err := listCollection(ctx, c, string(id)+"/providers/"+collection, row.APIVersion)
		if err != nil && !isUnsupported(err) {
			return out, fmt.Errorf("list its %s: %w", collection, err)
		}
		out.Related = append(out.Related, more...)
	}
	return out, readNetwork(ctx, c, &out)
}

// poolMode returns System or User.
func poolMode(pool adoption.Resource) string {
	var shown struct {
		Properties struct {
			Mode string `json:"mode"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(pool.Body, &shown) // listCollection has decoded it.
	return shown.Properties.Mode
}

// listCollection returns the resources of a collection, sorted by name.
func listCollection(ctx context.Context, c *client.Client, collection, apiVersion string) ([]adoption.Resource, error) {
	bodies, err := c.List(ctx, collection, apiVersion, nil)
	if err != nil {
		return nil, err
	}
	var out []adoption.Resource
	for _, body := range bodies {
		var shown struct{ Name string }
		if err := json.Unmarshal(body, &shown); err != nil || shown.Name == "" {
			return nil, fmt.Errorf("%s: an element has no name", collection)
		}
		out = append(out, adoption.Resource{ID: arm.ID(collection + "/" + shown.Name), APIVersion: apiVersion, Body: body})
	}
	slices.SortFunc(out, func(a, b adoption.Resource) int { return strings.Compare(a.ID.Key(), b.ID.Key()) })
	return out, nil
}

// isUnsupported reports whether a collection was refused because it cannot exist: the resource provider is not registered in the
// subscription, or not available in the cloud.
func isUnsupported(err error) bool {
	var refused *arm.Error
	return errors.As(err, &refused) && (refused.Status == http.StatusNotFound ||
		slices.Contains([]string{"MissingSubscriptionRegistration", "NoRegisteredProviderFound", "InvalidResourceType",
			"SubscriptionNotRegistered"}, refused.Code))
}

// readNetwork reads the network of the first pool, if it names a subnet.
func readNetwork(ctx context.Context, c *client.Client, found *adoption.ObservedCluster) error {
	if len(found.Pools) == 0 {
		return nil
	}
	var shown struct {
		Properties struct {
			VnetSubnetID string `json:"vnetSubnetID"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(found.Pools[0].Body, &shown); err != nil || shown.Properties.VnetSubnetID == "" {
		return err
	}
	subnet, err := arm.ParseID(shown.Properties.VnetSubnetID)
	if err != nil {
		return fmt.Errorf("%s: vnetSubnetID: %w", found.Pools[0].ID, err)
	}
	f, caller := facts.New(facts.Options{}), facts.Caller{Client: c}
	if found.Network, err = f.ReadVNet(ctx, caller, subnet.Parent(), infrav1.ClusterTagKey(found.Cluster.ID.Name()),
		infrav1.TagOwned); err != nil {
		return fmt.Errorf("read the network of the pools: %w", err)
	}
	found.Subnet, err = f.ReadResource(ctx, caller, subnet)
	return err
}
