package memory

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
	// planned is a JSON list of the IDs of resources, and of parts of them as if they were their children.
	planned = "sigs.k8s.io/cluster-api-provider-azure-planned"
	// seen is a JSON list of the IDs of resources that were seen in Azure.
	seen = "sigs.k8s.io/cluster-api-provider-azure-made"
	// paths is a JSON list of the leaf paths that were sent of one resource; below additional are tags of all of them.
	paths      = "sigs.k8s.io/cluster-api-provider-azure-sent"
	additional = "/additionalTags/"
	// groupTags is a JSON object of the tags of security groups.
	groupTags = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-nsg"
)

// Annotations of the established provider. They are read as long as there is no other, and stay as they are: users may go
// back, and it then goes on from them.
const (
	// vmTags, scaleSetTags and clusterTags are JSON objects of the additional tags that were last written.
	vmTags       = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vm"
	scaleSetTags = infrav1.LastAppliedScaleSetTagsAnnotation
	clusterTags  = "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-rg"
	// rules is a JSON object: security group name to rule name to description.
	rules = "sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules"
)

var (
	ours    = []string{planned, seen, paths, groupTags}
	earlier = append([]string{vmTags, scaleSetTags, clusterTags, rules}, ours...)
)

// legacy is the set in annotations of earlier releases and of the established provider.
func legacy(annotations map[string]string, scope Scope) set {
	out := set{}
	for _, id := range decode[[]string](annotations[planned]) {
		if id, ok := strings.CutPrefix(id, groups); ok && plain(id) {
			out.addPlanned(id)
		}
	}
	out.addAddresses(scope)
	for _, id := range decode[[]string](annotations[seen]) {
		if id, ok := strings.CutPrefix(id, groups); ok && plain(id) {
			out.add(id, made)
		}
	}
	for _, path := range decode[[]string](annotations[paths]) {
		if key, ok := strings.CutPrefix(path, additional); ok {
			out.add(everything, tags+key)
		} else {
			out.add(short(scope.Self), path)
		}
	}
	for _, annotation := range []string{vmTags, scaleSetTags, clusterTags} {
		for key := range decode[map[string]string](annotations[annotation]) {
			out.addTag(everything, key)
		}
	}
	for _, name := range scope.SecurityGroups {
		for key := range decode[map[string]string](annotations[groupTags]) {
			out.addTag(short(scope.SecurityGroup(name)), key)
		}
	}
	if annotations[planned] == "" && scope.SecurityGroup != nil {
		for group, named := range decode[map[string]map[string]string](annotations[rules]) {
			for rule := range named {
				if id := short(scope.SecurityGroup(group).Child("securityRules", rule)); plain(id) {
					out.add(id)
				}
			}
		}
	}
	return out
}

// addPlanned adds what was planned: a resource, or a part of one.
func (s set) addPlanned(id string) {
	full := arm.ID("/subscriptions/s" + groups + id)
	if _, ok := rowOf(full); ok {
		s.add(id)
		return
	}
	parent, ok := rowOf(full.Parent())
	if !ok {
		return
	}
	segments := strings.Split(id, "/")
	part, name := segments[len(segments)-2], full.Name()
	switch property := "properties." + part; {
	case part == "tags": // The network was seen with the ownership tag.
		s.add(short(full.Parent()), made)
	case part == "addressPrefixes":
		s.add(short(full.Parent()), element("properties.addressSpace.addressPrefixes", strings.ReplaceAll(name, "_", "/")))
	case slices.Contains(parent.PreservedPaths, property):
		s.add(short(full.Parent()), pointer(property))
	case slices.Contains(parent.SharedLists, property):
		s.add(short(full.Parent()), element(property, name))
	}
}

// addAddresses gives the NAT gateways that were planned the addresses that were: which ones had which was not stored.
func (s set) addAddresses(scope Scope) {
	is := func(id, resourceType string) bool {
		return strings.EqualFold(arm.ID("/subscriptions/s"+groups+id).Type(), resourceType)
	}
	for _, gateway := range s.sorted() {
		for _, address := range s.sorted() {
			if is(gateway.id, types.NATGateway) && is(address.id, types.PublicIPAddress) {
				s.add(gateway.id, element("properties.publicIpAddresses", string(Memory{Scope: scope}.full(address.id))))
			}
		}
	}
}

func (s set) addTag(id, key string) {
	if !mark(key) {
		s.add(id, tags+escaper.Replace(key))
	}
}

// decode is the value of an annotation; one that cannot be read has nothing.
func decode[T any](stored string) T {
	var out, none T
	if json.Unmarshal([]byte(stored), &out) != nil {
		return none
	}
	return out
}
