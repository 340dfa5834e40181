package cluster

import (
	"maps"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// dropTags has every resource lose the tags that an earlier spec gave it.
func dropTags(in plan.ClusterInput, g *arm.Graph) {
	annotations := in.AzureCluster.Annotations
	everywhere := plan.DroppedTags(annotations[infrav1.LastAppliedClusterTagsAnnotation], in.AzureCluster.Spec.AdditionalTags)
	groups := plan.DroppedTags(annotations[infrav1.LastAppliedSecurityGroupTagsAnnotation], securityGroupTags(in))
	for _, node := range g.Nodes() {
		if row, err := types.Of(node.ID); err != nil || !row.Taggable || node.Body == nil {
			continue
		}
		node.DropTags = everywhere
		if _, ok := node.Body.(armnetwork.SecurityGroup); ok {
			node.DropTags = append(everywhere[:len(everywhere):len(everywhere)], groups...)
		}
	}
}

// RememberTags are the annotations to store before a plan is converged: the tags of earlier specs and of this one, so
// that nothing is forgotten when a process dies in between. An empty value is for one that is not needed.
func RememberTags(in plan.ClusterInput) map[string]string {
	annotations := in.AzureCluster.Annotations
	return map[string]string{
		infrav1.LastAppliedClusterTagsAnnotation:       plan.RememberTags(annotations[infrav1.LastAppliedClusterTagsAnnotation], in.AzureCluster.Spec.AdditionalTags),
		infrav1.LastAppliedSecurityGroupTagsAnnotation: plan.RememberTags(annotations[infrav1.LastAppliedSecurityGroupTagsAnnotation], securityGroupTags(in)),
	}
}

// SettledTags are the annotations to store once all resources have the tags of the plan.
func SettledTags(in plan.ClusterInput) map[string]string {
	return map[string]string{
		infrav1.LastAppliedClusterTagsAnnotation:       plan.SettledTags(in.AzureCluster.Spec.AdditionalTags),
		infrav1.LastAppliedSecurityGroupTagsAnnotation: plan.SettledTags(securityGroupTags(in)),
	}
}

// securityGroupTags are the tags that subnets name for their security groups.
func securityGroupTags(in plan.ClusterInput) map[string]string {
	out := map[string]string{}
	for _, subnet := range allSubnets(in) {
		maps.Copy(out, subnet.SecurityGroup.Tags)
	}
	return out
}
