package managed

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// PlannedAnnotation is where the AzureManagedControlPlane has the memory of its plans.
const PlannedAnnotation = memory.PlannedAnnotation

// Prune are the private endpoints, fleet memberships and extensions that an earlier plan had and g has not, for the
// engine to delete where they are the cluster's.
func Prune(in Input, g *arm.Graph) []arm.ID {
	return memory.Prune(remembered(in).Recall(), nil, g)
}

// Remember is the value of PlannedAnnotation to store before g is converged: everything that was planned before and is
// now, so that nothing is forgotten when a process dies in between.
func Remember(in Input, g *arm.Graph) string { return remembered(in).Remember(prunable(g)) }

// Settled is the value of PlannedAnnotation to store once g has been converged and what Prune named is gone.
func Settled(in Input, g *arm.Graph) string { return remembered(in).Settled(prunable(g)) }

func remembered(in Input) memory.Memory {
	return memory.Memory{SubscriptionID: in.SubscriptionID, Stored: in.ControlPlane.Annotations[PlannedAnnotation], MayPrune: mayPrune}
}

// mayPrune tells whether a resource belongs to one entry of the spec. Everything else has a name that cannot change.
func mayPrune(id arm.ID) bool {
	for _, resourceType := range []string{types.PrivateEndpoint, types.FleetMember, types.ClusterExtension} {
		if strings.EqualFold(id.Type(), resourceType) {
			return true
		}
	}
	return false
}

func prunable(g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, node := range g.Nodes() {
		if mayPrune(node.ID) {
			out = append(out, node.ID)
		}
	}
	return out
}
