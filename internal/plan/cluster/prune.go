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
)

// PlannedAnnotation is a JSON list on the AzureCluster of the IDs that plans of it had, without the subscription. What is
// in it and no longer planned is deleted: a spec that shrinks must not leave anything behind.
const PlannedAnnotation = "sigs.k8s.io/cluster-api-provider-azure-planned"

// Prune are the resources that an earlier plan had and g has not, for the engine to delete where they are the cluster's.
// Resource groups and the network are never among them: too much hangs on them for a name that was changed.
func Prune(in plan.ClusterInput, g *arm.Graph) []arm.ID {
	var out []arm.ID
	wanted := prunable(g)
	for _, id := range append(remembered(in), appliedRules(in)...) {
		if !g.Has(id) && !slices.ContainsFunc(wanted, id.Equal) && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	return out
}

// Remember is the value of PlannedAnnotation to store before g is converged: everything that was planned before and is
// now, so that nothing is forgotten when a process dies in between.
func Remember(in plan.ClusterInput, g *arm.Graph) string {
	ids := map[string]bool{}
	for _, id := range append(remembered(in), prunable(g)...) {
		ids[shorten(in, id)] = true
	}
	return list(ids)
}

// Settled is the value of PlannedAnnotation to store once g has been converged and what Prune named is gone.
func Settled(in plan.ClusterInput, g *arm.Graph) string {
	ids := map[string]bool{}
	for _, id := range prunable(g) {
		ids[shorten(in, id)] = true
	}
	return list(ids)
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

// remembered are the IDs in the annotation. One that cannot be read names none: then nothing of it is deleted.
func remembered(in plan.ClusterInput) []arm.ID {
	var short []string
	if json.Unmarshal([]byte(in.AzureCluster.Annotations[PlannedAnnotation]), &short) != nil {
		return nil
	}
	var out []arm.ID
	for _, s := range short {
		id := arm.SubscriptionID(in.SubscriptionID) + arm.ID(s)
		if _, err := types.Of(id); err == nil && strings.HasPrefix(s, "/resourceGroups/") && mayPrune(id) {
			out = append(out, id)
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

// shorten takes the subscription off; IDs of other subscriptions there are none.
func shorten(in plan.ClusterInput, id arm.ID) string {
	return strings.TrimPrefix(string(id), string(arm.SubscriptionID(in.SubscriptionID)))
}

func list(ids map[string]bool) string {
	raw, _ := json.Marshal(slices.Sorted(maps.Keys(ids))) // A list of strings always marshals.
	return string(raw)
}
