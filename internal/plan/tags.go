package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// OwnerTag returns the tag that marks a resource as the cluster's. Resources with it are repaired and deleted.
func OwnerTag(in ClusterInput) (key, value string) {
	return infrav1.ClusterTagKey(ClusterName(in)), infrav1.TagOwned
}

// BuildTags returns the tags of a resource: the additional ones, and those of ownership, role and name, which win over
// additional ones of the same key. An empty role or name gives no tag.
func BuildTags(in ClusterInput, role, name string, additional map[string]string) map[string]*string {
	key, value := OwnerTag(in)
	tags := map[string]string{key: value}
	if owner := ownership.OwnerTagValue(in.AzureCluster, ClusterName(in)); owner != "" {
		tags[infrav1.OwnerTag] = owner
	}
	if role != "" {
		tags[infrav1.RoleTag] = role
	}
	if name != "" {
		tags[infrav1.NameTag] = name
	}
	out := map[string]*string{}
	for key, value := range MergeTags(additional, tags) {
		out[key] = new(value)
	}
	return out
}

// maxTags is the number of tags that Azure takes on a resource:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const maxTags = 50

// CheckTagCount returns an error if a resource would have more tags than Azure takes. path is the field with the additional ones.
func CheckTagCount[V any](tags map[string]V, what string, path *field.Path) field.ErrorList {
	if len(tags) <= maxTags {
		return nil
	}
	return field.ErrorList{field.Invalid(path, len(tags),
		fmt.Sprintf("tags on %s, with those of the provider, are more than the %d that Azure takes: remove %d", what, maxTags, len(tags)-maxTags))}
}

// MergeTags returns the tags of all sources. Azure ignores the case of their names and refuses a request with two spellings of one, so the
// tag of the last source counts, and within a source the last in the order of names. Names that differ only in case are refused by the
// webhooks, but stored objects and patches can have them.
func MergeTags[V any](sources ...map[string]V) map[string]V {
	merged, spelling := map[string]V{}, map[string]string{}
	for _, source := range sources {
		for _, key := range slices.Sorted(maps.Keys(source)) {
			low := strings.ToLower(key)
			if former, known := spelling[low]; known {
				delete(merged, former)
			}
			merged[key], spelling[low] = source[key], key
		}
	}
	return merged
}

// BuildMachineTags returns the tags of a resource of one machine: the cluster's, the machine's, which win, and the tag by
// which cloud-provider-azure recognizes a cluster's machines.
func BuildMachineTags(in MachineInput, role, name string) map[string]*string {
	return BuildTags(in.ClusterInput, role, name, MachineAdditionalTags(in))
}

// MachineAdditionalTags returns the tags of a machine's resources without ownership, role and name.
func MachineAdditionalTags(in MachineInput) map[string]string {
	return NodeAdditionalTags(in.ClusterInput, in.AzureMachine.Spec.AdditionalTags)
}

// NodeAdditionalTags returns the tags of a machine or a pool without ownership, role and name: the cluster's, and own,
// which win.
func NodeAdditionalTags(in ClusterInput, own infrav1.Tags) map[string]string {
	return MergeTags(in.AzureCluster.Spec.AdditionalTags, own,
		map[string]string{infrav1.CloudProviderTagKey(ClusterName(in)): infrav1.TagOwned})
}
