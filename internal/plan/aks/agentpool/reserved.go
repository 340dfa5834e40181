package agentpool

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// reservedPrefix is the prefix of labels and taints that AKS sets on nodes.
const reservedPrefix = "kubernetes.azure.com"

// spotLabel is the label of the nodes of a Spot pool. Exported manifests of Spot pools have it.
const spotLabel = reservedPrefix + "/scalesetpriority"

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

// checkLabels returns an error for each label of a request with AKS's prefix, unless the pool has it: AKS sets such labels itself.
// https://learn.microsoft.com/en-us/azure/aks/use-labels#unavailable-labels
func (r Request) checkLabels(at func(string) *field.Path) (errs field.ErrorList) {
	labels, _ := r.Properties["nodeLabels"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		_, known := r.Observed.Properties.NodeLabels[key]
		if strings.HasPrefix(key, reservedPrefix) && !known && !r.Unknown && key != spotLabel {
			errs = append(errs, field.Invalid(at("nodeLabels").Key(key), key, "must not begin with "+reservedPrefix+", which is for AKS"))
		}
	}
	return errs
}
