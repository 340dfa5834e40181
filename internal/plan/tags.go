package plan

import (
	"maps"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// OwnerTag is the tag that marks a resource as the cluster's: what carries it is repaired and deleted.
func OwnerTag(in ClusterInput) (key, value string) {
	return infrav1.ClusterTagKey(ClusterName(in)), infrav1.TagOwned
}

// BuildTags are the tags of a resource: additional ones first, then those of ownership, the role and the name, which win over
// additional ones of the same key. role and name are left out when empty.
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

// BuildMachineTags are the tags of a resource of one machine: those of the cluster and of the machine, which wins, and the
// tag that cloud-provider-azure knows a cluster's machines by.
func BuildMachineTags(in MachineInput, role, name string) map[string]*string {
	return BuildTags(in.ClusterInput, role, name, MachineAdditionalTags(in))
}

// MachineAdditionalTags are the tags of a machine's resources before ownership, role and name.
func MachineAdditionalTags(in MachineInput) map[string]string {
	return NodeAdditionalTags(in.ClusterInput, in.AzureMachine.Spec.AdditionalTags)
}

// NodeAdditionalTags are the same for whatever nodes run on: those of the cluster, and its own, which win.
func NodeAdditionalTags(in ClusterInput, own infrav1.Tags) map[string]string {
	additional := map[string]string{}
	maps.Copy(additional, in.AzureCluster.Spec.AdditionalTags)
	maps.Copy(additional, own)
	additional[infrav1.CloudProviderTagKey(ClusterName(in))] = infrav1.TagOwned
	return additional
}
