package asoresource

import (
	"fmt"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// selfAndAncestors are a resource and those that it is below, as far as one that can carry tags: that tells whose all of them are.
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

// hasClusterTags tells whether a resource, or what it is below, carries all the marks of the Cluster.
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

// findOtherOwnersTag is the tag by which a resource is another Cluster's or owner's, "" for none.
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

// readRefusalReason says why a resource that is only to be read is not for the Cluster to read, "" where it is. A cluster's kubeconfig goes
// with reading it.
func (in Input) readRefusalReason(id arm.ID) string {
	if len(in.observedResource(id)) == 0 {
		return ""
	}
	if tag := in.findOtherOwnersTag(id); tag != "" && id.Type() == types.ManagedCluster {
		return fmt.Sprintf("%s is another cluster's by its tag %s: nothing of it is handed out", id.ShortName(), tag)
	}
	if in.UsesLentIdentity() && !in.hasClusterTags(id) {
		return fmt.Sprintf("%s is not the Cluster's: with an AzureClusterIdentity of another namespace, documents use nothing that others made", id.ShortName())
	}
	return ""
}
