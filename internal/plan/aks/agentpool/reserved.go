package agentpool

import (
	"maps"
	"slices"
	"strings"
)

// reservedPrefix is the prefix of labels and taints that AKS sets on nodes.
const reservedPrefix = "kubernetes.azure.com"

// keepReserved adds the labels and taints that AKS has set to those of the properties, because a PUT replaces all of them. Properties
// without labels or taints leave them as they are in Azure.
func keepReserved(properties map[string]any, have Observed) {
	if labels, ok := properties["nodeLabels"].(map[string]any); ok {
		labels = maps.Clone(labels)
		for key, value := range have.Properties.NodeLabels {
			if _, known := labels[key]; strings.HasPrefix(key, reservedPrefix) && !known {
				labels[key] = value
			}
		}
		properties["nodeLabels"] = labels
	}
	if taints, ok := properties["nodeTaints"].([]any); ok {
		taints = slices.Clone(taints)
		for _, taint := range have.Properties.NodeTaints {
			if strings.HasPrefix(taint, reservedPrefix) && !slices.Contains(taints, any(taint)) {
				taints = append(taints, taint)
			}
		}
		properties["nodeTaints"] = taints
	}
}
