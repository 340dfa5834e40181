package plan

import (
	"maps"

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
	tags := maps.Clone(additional)
	if tags == nil {
		tags = map[string]string{}
	}
	key, value := OwnerTag(in)
	tags[key] = value
	if owner := ownership.OwnerTagValue(in.AzureCluster, ClusterName(in)); owner != "" {
		tags[infrav1.OwnerTag] = owner
	}
	if role != "" {
		tags[infrav1.RoleTag] = role
	}
	if name != "" {
		tags[infrav1.NameTag] = name
	}
	out := make(map[string]*string, len(tags))
	for key, value := range tags {
		out[key] = new(value)
	}
	return out
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
	additional := map[string]string{}
	maps.Copy(additional, in.AzureCluster.Spec.AdditionalTags)
	maps.Copy(additional, own)
	additional[infrav1.CloudProviderTagKey(ClusterName(in))] = infrav1.TagOwned
	return additional
}
