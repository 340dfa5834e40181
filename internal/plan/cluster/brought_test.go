package cluster_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
)

// TestNetworkWithoutItsTag plans with a network that exists and does not carry the ownership tag, after plans for a network of the
// cluster.
func TestNetworkWithoutItsTag(t *testing.T) {
	foreign := plan.VNetFact{Exists: true, Subnets: map[string][]string{"a": {"10.1.0.0/16"}, "b": {"10.2.0.0/16"}}}
	tests := map[string]struct {
		reason string
		store  func(in plan.ClusterInput, g *arm.Graph)
		policy arm.Policy
		action arm.ForeignAction
	}{
		"never planned":      {"users brought it", func(plan.ClusterInput, *arm.Graph) {}, arm.Observe, arm.UseForeign},
		"planned and absent": {"users may make the network that could not be made", storeBefore, arm.Observe, arm.UseForeign},
		"in place":           {"it was the cluster's, so others removed the tag", storeAfter, arm.Repair, arm.RefuseForeign},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := withSubnets("a", "b")
			test.store(in, mustPlan(t, in))
			in.Facts.VNet = foreign
			g := mustPlan(t, in)
			for _, node := range g.Nodes() {
				if node.ID.Equal(plan.VNetID(in)) && (node.Policy != test.policy || node.Foreign != test.action) {
					t.Errorf("%s: got %s %q, want %s %q", test.reason, node.Policy, node.Foreign, test.policy, test.action)
				}
			}
			if prune := cluster.LastApplied(in).ListPruned(g); len(prune) > 0 {
				t.Errorf("%s: the spec names all of it, and yet it would be pruned: %v", test.reason, prune)
			}
			storeAfter(in, g)
			if again := mustPlan(t, in); policyOfNetwork(again, in) != test.policy {
				t.Errorf("%s: the next plan has the policy %s", test.reason, policyOfNetwork(again, in))
			}
		})
	}
}

func policyOfNetwork(g *arm.Graph, in plan.ClusterInput) arm.Policy {
	for _, node := range g.Nodes() {
		if node.ID.Equal(plan.VNetID(in)) {
			return node.Policy
		}
	}
	return ""
}
