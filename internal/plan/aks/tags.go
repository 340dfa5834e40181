package aks

import (
	"maps"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// buildTags are the tags of a resource of the cluster that may be made.
func buildTags(in Input, role, name string) map[string]*string {
	return plan.Tags(ownershipInput(in), role, name, in.ControlPlane.Spec.AdditionalTags)
}

// setClusterTags sets the tags of the managed cluster in a body to which patches were applied: the additional ones, and
// those that mark it as ours where it is new or has the mark already. A cluster that was taken over gets no mark, so that
// taking over one that is as its manifest says writes nothing, and no additional tag makes one of it.
func setClusterTags(in Input, have ObservedCluster, body map[string]any) {
	wanted := map[string]string{}
	if needsOwnerTag(in, have) {
		for tag, text := range buildTags(in, infrav1.RoleCommon, in.ControlPlane.Name) {
			wanted[tag] = *text
		}
	} else {
		maps.Copy(wanted, in.ControlPlane.Spec.AdditionalTags)
		maps.DeleteFunc(wanted, func(tag, _ string) bool { return infrav1.Marks(tag) })
	}
	mergeTags(body, "tags", wanted)
}

// needsOwnerTag tells whether the managed cluster is to have the ownership tag.
func needsOwnerTag(in Input, have ObservedCluster) bool {
	key, value := OwnerTag(in)
	return !have.Exists || have.Tags[key] == value
}

// mergeTags puts tags into the map at a path of a body, over those of the same name: tag names have no case in Azure.
func mergeTags(body map[string]any, path string, tags map[string]string) {
	if len(tags) == 0 {
		return
	}
	all, _ := valueAt(body, path).(map[string]any)
	all = maps.Clone(all)
	if all == nil {
		all = map[string]any{}
	}
	for key, value := range tags {
		maps.DeleteFunc(all, func(other string, _ any) bool { return strings.EqualFold(key, other) })
		all[key] = value
	}
	setValue(body, path, all)
}
