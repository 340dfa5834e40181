package asoresource

import (
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// selfAndAncestors returns a resource and its parents up to the first one that can carry tags. Its tags determine the owner of all
// of them.
func selfAndAncestors(id arm.ID) []arm.ID {
	var out []arm.ID
	for ; id.Type() != ""; id = id.Parent() {
		out = append(out, id)
		if row, err := types.ForID(id); err == nil && row.Taggable {
			break
		}
	}
	return out
}

// hasClusterTags reports whether a resource, or a parent of it, carries all ownership tags of the Cluster.
func (in Input) hasClusterTags(id arm.ID) bool {
	tags := map[string]string{}
	for _, each := range selfAndAncestors(id) {
		for key, value := range readTags(in.observedResource(each)) {
			tags[strings.ToLower(key)] = value
		}
	}
	for key, value := range in.ownershipTags() {
		if tags[strings.ToLower(key)] != value {
			return false
		}
	}
	return true
}

// findOtherOwnersTag returns the tag that marks a resource of another Cluster or owner, "" if there is none.
func (in Input) findOtherOwnersTag(id arm.ID) string {
	marks := map[string]string{}
	for key, value := range in.ownershipTags() {
		marks[strings.ToLower(key)] = value
	}
	for key, value := range readTags(in.observedResource(id)) {
		key = strings.ToLower(key)
		switch {
		case !infrav1.Marks(key) || marks[key] == value:
		case key == strings.ToLower(infrav1.OwnerTag) || value == infrav1.TagOwned:
			return key
		}
	}
	return ""
}

// readRefusalReason returns the reason why the Cluster must not read a resource of a manifest with policy skip, "" if it may.
// Reading a managed cluster includes its kubeconfig.
func (in Input) readRefusalReason(id arm.ID) string {
	if len(in.observedResource(id)) == 0 {
		return ""
	}
	if tag := in.findOtherOwnersTag(id); tag != "" && id.Type() == types.ManagedCluster {
		return fmt.Sprintf("%s belongs to another cluster by its tag %s, so its kubeconfig and values are not exported", id.ShortName(), tag)
	}
	if in.UsesLentIdentity() && !in.hasClusterTags(id) {
		return fmt.Sprintf("%s does not belong to the Cluster. With an AzureClusterIdentity of another namespace, manifests can only use resources of the Cluster.", id.ShortName())
	}
	return ""
}
