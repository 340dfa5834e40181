package managed

import (
	"maps"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Prefixes of sent paths that are about tags. Those of the managed cluster are the ones its body had, by patches, too;
// the others are those of the spec, which all resources of the cluster have.
const (
	sentTag           = "/tags/"
	sentAdditionalTag = "/additionalTags/"
)

// tags are the tags of a resource of the cluster that may be made.
func tags(in Input, role, name string) map[string]*string {
	return plan.Tags(owner(in), role, name, in.ControlPlane.Spec.AdditionalTags)
}

// droppedTags are the additional tags that an earlier spec had and this one has not.
func droppedTags(in Input) []string {
	return dropped(in.Sent, sentAdditionalTag, slices.Collect(maps.Keys(in.ControlPlane.Spec.AdditionalTags)))
}

// dropped are the tags that were sent under prefix and are not wanted. Tag names have no case in Azure.
func dropped(sent []string, prefix string, wanted []string) []string {
	var out []string
	for _, path := range sent {
		key, ok := strings.CutPrefix(path, prefix)
		if ok && !slices.ContainsFunc(wanted, func(other string) bool { return strings.EqualFold(key, other) }) {
			out = append(out, key)
		}
	}
	return out
}

// clusterTags sets the tags of the managed cluster in a body to which patches were applied: the additional ones, and
// those that mark it as ours where it is new or has the mark already. A cluster that was taken over gets no mark, so that
// taking over one that is as its manifest says writes nothing.
func clusterTags(in Input, have Observed, body map[string]any) {
	key, value := OwnerTag(in)
	wanted := map[string]string{}
	maps.Copy(wanted, in.ControlPlane.Spec.AdditionalTags)
	if !have.Exists || have.Tags[key] == value {
		wanted[key], wanted[infrav1.RoleTag], wanted[infrav1.NameTag] = value, infrav1.RoleCommon, in.ControlPlane.Name
	}
	overlay(body, "tags", wanted)
}

// overlay puts tags into the map at a path of a body, over those of the same name: tag names have no case in Azure.
func overlay(body map[string]any, path string, tags map[string]string) {
	if len(tags) == 0 {
		return
	}
	all, _ := at(body, path).(map[string]any)
	all = maps.Clone(all)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range tags {
		maps.DeleteFunc(all, func(other string, _ any) bool { return strings.EqualFold(key, other) })
		all[key] = value
	}
	set(body, path, all)
}

// sentTags are the sent paths of the tags of a body of the managed cluster, without the mark.
func sentTags(in Input, body map[string]any) []string {
	ownerKey, _ := OwnerTag(in)
	var out []string
	all, _ := body["tags"].(map[string]any)
	for key := range all {
		if key != ownerKey && key != infrav1.RoleTag && key != infrav1.NameTag {
			out = append(out, sentTag+key)
		}
	}
	for key := range in.ControlPlane.Spec.AdditionalTags {
		out = append(out, sentAdditionalTag+key)
	}
	return out
}

// droppedClusterTags are the tags of the managed cluster that an earlier body had and this one has not.
func droppedClusterTags(in Input, body map[string]any) []string {
	all, _ := body["tags"].(map[string]any)
	return dropped(in.Sent, sentTag, slices.Collect(maps.Keys(all)))
}
