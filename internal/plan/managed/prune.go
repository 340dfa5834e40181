package managed

import (
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
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

// groups are the conditions of what belongs to one entry of the spec, by type. Everything else has a name that cannot
// change.
var groups = memory.Groups{
	types.PrivateEndpoint:  infrav1.PrivateEndpointsReadyCondition,
	types.FleetMember:      infrav1.FleetReadyCondition,
	types.ClusterExtension: infrav1.AKSExtensionsReadyCondition,
}

// Group is the condition under which a resource is reported that no plan has any more, because its entry is gone from the
// spec; "" for any other.
func Group(id arm.ID) string { return groups.Of(id) }

func mayPrune(id arm.ID) bool { return Group(id) != "" || isEndpoint(id) }

// isEndpoint tells whether an ID is that of a service endpoint, which is a part of a subnet.
func isEndpoint(id arm.ID) bool {
	return memory.IsPart(id) && strings.EqualFold(id.Parent().Type(), types.Subnet)
}

func prunable(g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, node := range g.Nodes() {
		if subnet, ok := node.Body.(armnetwork.Subnet); ok {
			for _, endpoint := range subnet.Properties.ServiceEndpoints {
				out = append(out, node.ID.Child("serviceEndpoints", *endpoint.Service))
			}
		}
		if mayPrune(node.ID) {
			out = append(out, node.ID)
		}
	}
	return out
}

// droppedEndpoints are the paths of the service endpoints that the spec of the subnet had and has not, for its node to own:
// they go with the next write, and those that others added stay.
func droppedEndpoints(in Input) []string {
	var out []string
	for _, id := range remembered(in).Recall() {
		wanted := slices.ContainsFunc(in.ControlPlane.Spec.VirtualNetwork.Subnet.ServiceEndpoints, func(e infrav1.ServiceEndpointSpec) bool {
			return strings.EqualFold(e.Service, id.Name())
		})
		if isEndpoint(id) && id.Parent().Equal(SubnetID(in)) && !wanted {
			out = append(out, "properties.serviceEndpoints["+id.Name()+"]")
		}
	}
	return out
}
