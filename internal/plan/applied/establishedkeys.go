package applied

import (
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Annotations of the established provider (CAPZ). They are read until a plan of this provider is stored, and stay as they are: CAPZ
// continues from them when users go back.
const (
	// These are JSON objects of the additional tags that CAPZ wrote last.
	vmTagsKey       = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vm"
	scaleSetTagsKey = infrav1.LastAppliedScaleSetTagsAnnotation
	groupTagsKey    = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-rg"
	// rulesKey is a JSON object of objects: the names of security groups to the names of their rules to descriptions.
	rulesKey = "sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules"
)

var (
	establishedTags = []string{vmTagsKey, scaleSetTagsKey, groupTagsKey}
	establishedKeys = append([]string{rulesKey}, establishedTags...)
)

// hasEstablished returns true if CAPZ wrote tags or security rules of the object.
func hasEstablished(annotations map[string]string) bool {
	return slices.ContainsFunc(establishedKeys, func(key string) bool { return annotations[key] != "" })
}

// readEstablished returns the tags and security rules that CAPZ wrote. Tags that mark a resource are not among them: no spec removes them.
func readEstablished(annotations map[string]string, scope Scope) pathSet {
	out := pathSet{}
	d := &decoder{}
	for _, key := range establishedTags {
		for tag := range d.object(d.decode(annotations[key])) {
			if !isOwnershipTag(tag) {
				out.addPaths(allResources, tagPointer(tag))
			}
		}
	}
	if scope.SecurityGroup == nil {
		return out
	}
	for group, rules := range d.object(d.decode(annotations[rulesKey])) {
		for rule := range d.object(rules) {
			id := scope.SecurityGroup(group).Child("securityRules", rule)
			if _, known := findRow(id); known && id.Name() == rule && isPlainID(trimSubscription(id)) {
				out.addPaths(trimSubscription(id.Parent()), elementPointer("properties.securityRules", rule))
			}
		}
	}
	return out
}
