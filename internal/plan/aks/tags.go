package aks

import (
	"maps"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// buildTags returns the tags of a resource that is created for the cluster.
func buildTags(in Input, role, name string) map[string]*string {
	return plan.BuildTags(ownershipInput(in), role, name, in.ControlPlane.Spec.AdditionalTags)
}

// setClusterTags sets the tags in the body of the managed cluster, over those of patches.
func setClusterTags(in Input, have managedcluster.Observed, body map[string]any) {
	mergeTags(body, "tags", buildClusterTags(in, have))
}

// buildClusterTags returns the tags of the managed cluster: the additional tags, and the ownership tags if the cluster is new or has them.
// An adopted cluster gets no ownership tag, so that adopting a cluster that equals its manifest writes nothing. Additional tags cannot set
// an ownership tag.
func buildClusterTags(in Input, have managedcluster.Observed) map[string]string {
	wanted := map[string]string{}
	if needsOwnerTag(in, have) {
		for tag, text := range buildTags(in, infrav1.RoleCommon, in.ControlPlane.Name) {
			wanted[tag] = *text
		}
	} else {
		maps.Copy(wanted, in.ControlPlane.Spec.AdditionalTags)
		maps.DeleteFunc(wanted, func(tag, _ string) bool { return infrav1.Marks(tag) })
	}
	return wanted
}

// needsOwnerTag reports whether the managed cluster must have the ownership tag.
func needsOwnerTag(in Input, have managedcluster.Observed) bool {
	return !have.Exists || ownership.HasClusterTag(have.Tags, ClusterName(in))
}

// mergeTags adds tags to the map at a path of a body. They replace tags of the same name.
func mergeTags(body map[string]any, path string, tags map[string]string) {
	if len(tags) == 0 {
		return
	}
	present, _ := jsonpath.Get(body, path).(map[string]any)
	added := map[string]any{}
	for key, value := range tags {
		added[key] = value
	}
	jsonpath.Set(body, path, plan.MergeTags(present, added))
}
