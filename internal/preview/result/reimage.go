package result

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// reimaging are the properties whose change makes AKS replace the disks of nodes, by type. There is no list of all of them at Microsoft.
var reimaging = map[string][]string{
	types.ManagedCluster: {
		// "each node pool to be re-imaged simultaneously": https://learn.microsoft.com/en-us/azure/aks/update-azure-cni
		"properties.networkProfile.networkPluginMode", "properties.networkProfile.networkDataplane",
		// https://learn.microsoft.com/en-us/azure/aks/use-network-policies
		"properties.networkProfile.networkPolicy",
		// https://learn.microsoft.com/en-us/azure/aks/http-proxy
		"properties.httpProxyConfig",
	},
	types.AgentPool: {
		// https://learn.microsoft.com/en-us/azure/aks/upgrade-aks-node-pools-rolling
		"properties.orchestratorVersion",
		// https://learn.microsoft.com/en-us/azure/aks/upgrade-os-version
		"properties.osSKU",
	},
}

// isReimaging reports whether AKS replaces nodes when a property of a resource of the type changes.
func isReimaging(resourceType, path string) bool {
	return slices.ContainsFunc(reimaging[resourceType], func(known string) bool {
		return path == known || strings.HasPrefix(path, known+".")
	})
}
