// Package containerservice simulates Azure Kubernetes Service: managed clusters, their agent pools, and the resources
// that AKS creates for them in the node resource group. Fleets, which share the namespace, are in package fleet.
//
// Its promise: a cluster or pool is only accepted when AKS would accept it, and refused with AKS's code and message
// otherwise; a PUT changes the properties that it mentions and leaves the rest; the node resource group holds real
// resources of the other providers, which are deleted with the cluster; and nodes are instances of the pools' scale
// sets, so that capacity, quota and addresses are those of the simulated compute and network providers.
//
// The defaults of AKS, its timings and the shape of its answers follow recordings of Azure (api-versions 2024-09-01
// to 2025-10-02-preview); rules and limits follow https://learn.microsoft.com/azure/aks.
package containerservice

import (
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/fleet"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types.
const (
	ManagedClusters = "Microsoft.ContainerService/managedClusters"
	AgentPools      = "Microsoft.ContainerService/managedClusters/agentPools"
)

var apiVersions = []string{"2026-05-02-preview", "2026-05-01", "2025-10-02-preview", "2025-10-01", "2025-08-01", "2025-05-01", "2025-03-01",
	"2024-09-01", "2024-04-02-preview", "2023-02-01", "2022-04-01", "2021-05-01"}

// Provider returns the resource provider.
func Provider() *provider.Provider {
	p := &provider.Provider{
		Namespace: "Microsoft.ContainerService",
		Types:     append([]*provider.Type{clusterType(), poolType(), maintenanceType(), trustedAccessType()}, fleet.ResourceTypes()...),
		Regional: map[string]func(*provider.Call, string, []string) (*provider.Reply, error){
			"kubernetesversions": kubernetesVersions,
			"orchestrators":      listOrchestrators,
		},
	}
	return p
}

// etagSince is the first api-version whose preconditions count: recordings of it show etags, and the SDK module has the headers from its previews
// of that time on (armcontainerservice 5.1.0-beta.2).
const etagSince = "2024-04-02-preview"

// newRefusal returns an answer in AKS's form, which has no "error" around it.
func newRefusal(status int, code, format string, args ...any) *provider.Error {
	e := provider.Errorf(status, code, format, args...)
	e.Bare = true
	return e
}

// invalidParameter is AKS's answer for a value that cannot be used.
func invalidParameter(name, format string, args ...any) *provider.Error {
	return newRefusal(400, "InvalidParameter", "The value of parameter %s is invalid. Error details: %s.", name,
		fmt.Sprintf(format, args...)).WithTarget(name)
}

func badRequest(format string, args ...any) *provider.Error {
	return newRefusal(400, "BadRequest", format, args...)
}

// eTag moves the frame's etag to where AKS shows it.
func eTag(c *provider.Call, b body.Object, path string) {
	tag := body.String(b, "etag")
	delete(b, "etag")
	if tag != "" && showsETag(c) {
		body.Set(b, path, tag)
	}
}

// clusterOf returns the cluster a pool or another child belongs to, or nil.
func clusterOf(c *provider.Call, childID string) *store.Resource {
	id, err := store.ParseID(childID)
	if err != nil {
		return nil
	}
	return c.Get(id.Parent().String())
}

// poolsOf lists a cluster's pools by name.
func poolsOf(c *provider.Call, clusterID string) []*store.Resource {
	return c.List(AgentPools, clusterID)
}
