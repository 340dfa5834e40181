package cluster

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// PlannedAnnotation is where the AzureCluster has the memory of its plans.
const PlannedAnnotation = memory.PlannedAnnotation

// Prune are the resources that an earlier plan had and g has not, for the engine to delete where they are the cluster's.
// Resource groups and the network are never among them: too much hangs on them for a name that was changed.
func Prune(in plan.ClusterInput, g *arm.Graph) []arm.ID {
	return memory.Prune(append(remembered(in).Recall(), appliedRules(in)...), prunable(g), g)
}

// Remember is the value of PlannedAnnotation to store before g is converged: everything that was planned before and is
// now, so that nothing is forgotten when a process dies in between.
func Remember(in plan.ClusterInput, g *arm.Graph) string {
	return remembered(in).Remember(prunable(g))
}

// Settled is the value of PlannedAnnotation to store once g has been converged and what Prune named is gone.
func Settled(in plan.ClusterInput, g *arm.Graph) string {
	return remembered(in).Settled(prunable(g))
}

func remembered(in plan.ClusterInput) memory.Memory {
	return memory.Memory{SubscriptionID: in.SubscriptionID, Stored: in.AzureCluster.Annotations[PlannedAnnotation], MayPrune: mayPrune}
}

func mayPrune(id arm.ID) bool {
	return !strings.EqualFold(id.Type(), types.ResourceGroup) && !strings.EqualFold(id.Type(), types.VirtualNetwork)
}

// prunable are the resources of a plan that a later plan may want no more, the rules in its security groups among them.
func prunable(g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, node := range g.Nodes() {
		if node.Policy == arm.Observe || !mayPrune(node.ID) {
			continue
		}
		out = append(out, node.ID)
		if group, ok := node.Body.(armnetwork.SecurityGroup); ok {
			for _, rule := range group.Properties.SecurityRules {
				out = append(out, node.ID.Child("securityRules", *rule.Name))
			}
		}
	}
	return out
}

// appliedRules are the security rules in the annotation that clusters have which were made by other releases.
func appliedRules(in plan.ClusterInput) []arm.ID {
	var applied map[string]map[string]string
	if json.Unmarshal([]byte(in.AzureCluster.Annotations[infrav1.LastAppliedSecurityRulesAnnotation]), &applied) != nil {
		return nil
	}
	var out []arm.ID
	for _, group := range slices.Sorted(maps.Keys(applied)) {
		for _, rule := range slices.Sorted(maps.Keys(applied[group])) {
			out = append(out, plan.SecurityGroupID(in, group).Child("securityRules", rule))
		}
	}
	return out
}
