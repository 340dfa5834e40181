package aks

import (
	"strings"

	aks "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"
)

// defaultValue is the default of a property, which Azure may not show.
type defaultValue struct{ path, value string }

// These defaults apply in AKS without being shown in every response. A spec that sets them therefore differs from an existing
// resource only in form.
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

// omitDefaults removes values from the body that equal a default and that the existing resource does not show.
func omitDefaults(body map[string]any, shown map[string]any, defaults []defaultValue) {
	for _, d := range defaults {
		if shown != nil && toText(valueAt(body, d.path)) == d.value && valueAt(shown, d.path) == nil {
			deleteValue(body, d.path)
		}
	}
}

// setExplicitDefaults replaces null by the default, for properties where AKS does not accept null.
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
