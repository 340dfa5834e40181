package applied

import (
	"encoding/json"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Annotations of earlier releases, which are read as long as there is no other, and taken away when there is.
const (
	// plannedAnnotation is a JSON list of the IDs of resources, and of parts of them as if they were their children.
	plannedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-planned"
	// seenAnnotation is a JSON list of the IDs of resources that were seen in Azure.
	seenAnnotation = "sigs.k8s.io/cluster-api-provider-azure-made"
	// pathsAnnotation is a JSON list of the leaf paths that were sent of one resource; below additional are tags of all of them.
	pathsAnnotation      = "sigs.k8s.io/cluster-api-provider-azure-sent"
	additionalTagsPrefix = "/additionalTags/"
	// securityGroupTagsAnnotation is a JSON object of the tags of security groups.
	securityGroupTagsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-nsg"
)

// Annotations of the established provider. They are read as long as there is no other, and stay as they are: users may go
// back, and it then goes on from them.
const (
	// capzVMTagsAnnotation, scaleSetTags and capzGroupTagsAnnotation are JSON objects of the additional tags that were last written.
	capzVMTagsAnnotation    = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vm"
	scaleSetTags            = infrav1.LastAppliedScaleSetTagsAnnotation
	capzGroupTagsAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-rg"
	// capzRulesAnnotation is a JSON object: security group name to rule name to description.
	capzRulesAnnotation = "sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules"
)

var (
	earlierAnnotations = []string{plannedAnnotation, seenAnnotation, pathsAnnotation, securityGroupTagsAnnotation}
	otherAnnotations   = append([]string{capzVMTagsAnnotation, scaleSetTags, capzGroupTagsAnnotation, capzRulesAnnotation}, earlierAnnotations...)
)

// readEarlier is the set in annotations of earlier releases and of the established provider.
func readEarlier(annotations map[string]string, scope Scope) pathSet {
	out := pathSet{}
	for _, id := range decodeJSON[[]string](annotations[plannedAnnotation]) {
		if id, ok := strings.CutPrefix(id, groupsSegment); ok && isPlainID(id) {
			out.addEarlierPlanned(id)
		}
	}
	out.addGatewayAddresses(scope)
	for _, id := range decodeJSON[[]string](annotations[seenAnnotation]) {
		if id, ok := strings.CutPrefix(id, groupsSegment); ok && isPlainID(id) {
			out.addPaths(id, recorded)
		}
	}
	for _, path := range decodeJSON[[]string](annotations[pathsAnnotation]) {
		if key, ok := strings.CutPrefix(path, additionalTagsPrefix); ok {
			out.addPaths(allResources, tagsPrefix+key)
		} else {
			out.addPaths(trimSubscription(scope.Self), path)
		}
	}
	for _, annotation := range []string{capzVMTagsAnnotation, scaleSetTags, capzGroupTagsAnnotation} {
		for key := range decodeJSON[map[string]string](annotations[annotation]) {
			out.addTag(allResources, key)
		}
	}
	for _, name := range scope.SecurityGroups {
		for key := range decodeJSON[map[string]string](annotations[securityGroupTagsAnnotation]) {
			out.addTag(trimSubscription(scope.SecurityGroup(name)), key)
		}
	}
	if annotations[plannedAnnotation] == "" && scope.SecurityGroup != nil {
		for group, named := range decodeJSON[map[string]map[string]string](annotations[capzRulesAnnotation]) {
			for rule := range named {
				if id := trimSubscription(scope.SecurityGroup(group).Child("securityRules", rule)); isPlainID(id) {
					out.addPaths(id)
				}
			}
		}
	}
	return out
}

// addEarlierPlanned adds what was planned: a resource, or a part of one.
func (s pathSet) addEarlierPlanned(id string) {
	full := arm.ID("/subscriptions/s" + groupsSegment + id)
	if _, ok := findRow(full); ok {
		s.addPaths(id)
		return
	}
	parent, ok := findRow(full.Parent())
	if !ok {
		return
	}
	segments := strings.Split(id, "/")
	part, name := segments[len(segments)-2], full.Name()
	switch property := "properties." + part; {
	case part == "tags": // The network was seen with the ownership tag.
		s.addPaths(trimSubscription(full.Parent()), recorded)
	case part == "addressPrefixes":
		s.addPaths(trimSubscription(full.Parent()), elementPointer("properties.addressSpace.addressPrefixes", strings.ReplaceAll(name, "_", "/")))
	case slices.Contains(parent.PreservedPaths, property):
		s.addPaths(trimSubscription(full.Parent()), toPointer(property))
	case slices.Contains(parent.SharedLists, property):
		s.addPaths(trimSubscription(full.Parent()), elementPointer(property, name))
	}
}

// addGatewayAddresses gives the NAT gateways that were planned the addresses that were: which ones had which was not stored.
func (s pathSet) addGatewayAddresses(scope Scope) {
	is := func(id, resourceType string) bool {
		return strings.EqualFold(arm.ID("/subscriptions/s"+groupsSegment+id).Type(), resourceType)
	}
	for _, gateway := range s.sortedEntries() {
		for _, address := range s.sortedEntries() {
			if is(gateway.id, types.NATGateway) && is(address.id, types.PublicIPAddress) {
				s.addPaths(gateway.id, elementPointer("properties.publicIpAddresses", string(State{Scope: scope}.toFullID(address.id))))
			}
		}
	}
}

func (s pathSet) addTag(id, key string) {
	if !isOwnershipTag(key) {
		s.addPaths(id, tagPointer(key))
	}
}

// decodeJSON is the value of an annotation; one that cannot be read has nothing.
func decodeJSON[T any](stored string) T {
	var out, none T
	if json.Unmarshal([]byte(stored), &out) != nil {
		return none
	}
	return out
}
