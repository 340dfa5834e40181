package aks

import (
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"
)

// defaultValue is a value that Azure takes for the absence of one.
type defaultValue struct{ path, value string }

// Defaults that AKS has anyway and does not show everywhere, so that a spec that says them asks for nothing.
// https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/create-or-update
var (
	clusterDefaults = []defaultValue{
		{"properties.autoUpgradeProfile.upgradeChannel", "none"},
		{"properties.networkProfile.loadBalancerProfile.allocatedOutboundPorts", "0"},
	}
	poolDefaults = []defaultValue{
		{"properties.scaleSetPriority", "Regular"},
		{"properties.spotMaxPrice", "-1"},
	}
)

// omitDefaults takes defaults out of the body of a resource that exists and does not show them.
func omitDefaults(body map[string]any, shown map[string]any, defaults []defaultValue) {
	for _, d := range defaults {
		if shown != nil && toText(valueAt(body, d.path)) == d.value && valueAt(shown, d.path) == nil {
			deleteValue(body, d.path)
		}
	}
}

// setExplicitDefaults says the values of what is taken back by null where AKS wants them said.
func setExplicitDefaults(body map[string]any) {
	for path, value := range map[string]any{
		"sku.name": string(aks.ManagedClusterSKUNameBase),
		loadBalancerPath + "allocatedOutboundPorts": 0,
	} {
		parent, key := path[:strings.LastIndex(path, ".")], path[strings.LastIndex(path, ".")+1:]
		object, _ := valueAt(body, parent).(map[string]any)
		if null, said := object[key]; said && null == nil {
			object[key] = value
		}
	}
}
