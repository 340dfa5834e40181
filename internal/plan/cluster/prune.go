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
// Resource groups and the network are never among them: too much hangs on them for a name that was changed. Neither is what
// the spec still names and only another state of the network in Azure keeps out of g.
func Prune(in plan.ClusterInput, g *arm.Graph) []arm.ID {
	wanted := prunable(g)
	in.Facts.VNet = plan.VNetFact{}
	if named, err := Plan(in); err == nil {
		wanted = append(wanted, prunable(named)...)
	}
	return memory.Prune(append(remembered(in).Recall(), appliedRules(in)...), wanted, g)
}

// Remember is the value of PlannedAnnotation to store before g is converged: everything that was planned before and is
// now, so that nothing is forgotten when a process dies in between.
func Remember(in plan.ClusterInput, g *arm.Graph) string {
	return remembered(in).Remember(slices.Concat(prunable(g), prefixParts(in), appliedRules(in)))
}

// Settled is the value of PlannedAnnotation to store once g has been converged and what Prune named is gone.
func Settled(in plan.ClusterInput, g *arm.Graph) string {
	wanted := append(prunable(g), prefixParts(in)...)
	if !plan.BroughtNetwork(in, in.Facts.VNet) {
		wanted = append(wanted, plan.NetworkMark(in))
	}
	return remembered(in).Settled(wanted)
}

// groups are the conditions that resources report into once no plan has them any more.
var groups = memory.Groups{
	types.Subnet:                infrav1.SubnetsReadyCondition,
	types.VirtualNetworkPeering: infrav1.VnetPeeringReadyCondition,
	types.NetworkSecurityGroup:  infrav1.SecurityGroupsReadyCondition,
	types.SecurityRule:          infrav1.SecurityGroupsReadyCondition,
	types.RouteTable:            infrav1.RouteTablesReadyCondition,
	types.PublicIPAddress:       infrav1.PublicIPsReadyCondition,
	types.NATGateway:            infrav1.NATGatewaysReadyCondition,
	types.LoadBalancer:          infrav1.LoadBalancersReadyCondition,
	types.PrivateEndpoint:       infrav1.PrivateEndpointsReadyCondition,
	types.BastionHost:           infrav1.BastionHostReadyCondition,
	types.PrivateDNSZone:        infrav1.PrivateDNSZoneReadyCondition,
	types.VirtualNetworkLink:    infrav1.PrivateDNSLinkReadyCondition,
	types.ARecord:               infrav1.PrivateDNSRecordReadyCondition,
	types.AAAARecord:            infrav1.PrivateDNSRecordReadyCondition,
}

// Group is the condition that a resource reports into that Prune names, "" for one of a type that no plan has.
func Group(id arm.ID) string { return groups.Of(id) }

func remembered(in plan.ClusterInput) memory.Memory {
	return memory.Memory{SubscriptionID: in.SubscriptionID, Stored: in.AzureCluster.Annotations[PlannedAnnotation], MayPrune: mayPrune}
}

func mayPrune(id arm.ID) bool {
	return !strings.EqualFold(id.Type(), types.ResourceGroup) && !strings.EqualFold(id.Type(), types.VirtualNetwork)
}

// prunable are the resources of a plan that a later plan may want no more, the rules in its security groups and the parts
// of its load balancers and subnets among them.
func prunable(g *arm.Graph) []arm.ID {
	var out []arm.ID
	for _, node := range g.Nodes() {
		if node.Policy == arm.Observe || !mayPrune(node.ID) {
			continue
		}
		out = append(out, node.ID)
		switch body := node.Body.(type) {
		case armnetwork.SecurityGroup:
			for _, rule := range body.Properties.SecurityRules {
				out = append(out, node.ID.Child("securityRules", *rule.Name))
			}
		case armnetwork.LoadBalancer:
			out = append(out, balancerParts(node.ID, body)...)
		case armnetwork.Subnet:
			out = append(out, subnetParts(node.ID, body)...)
		}
	}
	return out
}

// prefixParts are the address ranges that the spec gives a network of the cluster's.
func prefixParts(in plan.ClusterInput) []arm.ID {
	var out []arm.ID
	if !plan.BroughtNetwork(in, in.Facts.VNet) {
		for _, cidr := range in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks {
			out = append(out, prefixPart(in, cidr))
		}
	}
	return out
}

// balancerParts are the parts of a load balancer that change with the spec: a rule for each port and a frontend for each
// address. Its backend pool is not among them, because machines are in it.
func balancerParts(id arm.ID, body armnetwork.LoadBalancer) []arm.ID {
	var out []arm.ID
	for _, rule := range body.Properties.LoadBalancingRules {
		out = append(out, id.Child("loadBalancingRules", *rule.Name))
	}
	for _, frontend := range body.Properties.FrontendIPConfigurations {
		out = append(out, id.Child("frontendIPConfigurations", *frontend.Name))
	}
	return out
}

// attachments are the properties of a subnet that have one thing or none. Parts of these names are what was attached.
var attachments = []string{"networkSecurityGroup", "routeTable", "natGateway"}

// subnetParts are the service endpoints of a subnet, and what is attached to it.
func subnetParts(id arm.ID, body armnetwork.Subnet) []arm.ID {
	var out []arm.ID
	for _, endpoint := range body.Properties.ServiceEndpoints {
		out = append(out, id.Child("serviceEndpoints", *endpoint.Service))
	}
	if group := body.Properties.NetworkSecurityGroup; group != nil {
		out = append(out, id.Child("networkSecurityGroup", arm.ID(*group.ID).Name()))
	}
	if table := body.Properties.RouteTable; table != nil {
		out = append(out, id.Child("routeTable", arm.ID(*table.ID).Name()))
	}
	if gateway := body.Properties.NatGateway; gateway != nil {
		out = append(out, id.Child("natGateway", arm.ID(*gateway.ID).Name()))
	}
	return out
}

// droppedParts are the paths of what an earlier plan put into a resource and this one has not, for its node to own: it goes
// with the next write, and what others put there stays.
func droppedParts(in plan.ClusterInput, id arm.ID, parts []arm.ID) []string {
	var out []string
	for _, part := range remembered(in).Recall() {
		if memory.IsPart(part) && part.Parent().Equal(id) && !slices.ContainsFunc(parts, part.Equal) {
			segments := strings.Split(string(part), "/")
			path := "properties." + segments[len(segments)-2]
			if !slices.Contains(attachments, segments[len(segments)-2]) {
				path += "[" + part.Name() + "]"
			}
			out = append(out, path)
		}
	}
	return out
}

// droppedAddresses are the paths of the addresses that an earlier plan had, for NAT gateways to own: those that others gave
// a gateway stay.
func droppedAddresses(in plan.ClusterInput, g *arm.Graph) []string {
	var out []string
	for _, id := range remembered(in).Recall() {
		if strings.EqualFold(id.Type(), types.PublicIPAddress) && !g.Has(id) {
			out = append(out, "properties.publicIpAddresses["+string(id)+"]")
		}
	}
	return out
}

// appliedRules are the security rules in the annotation of the established provider, for a cluster that is taken over. From
// then on the memory has them until they are gone: a rule of that name that others make later is theirs.
func appliedRules(in plan.ClusterInput) []arm.ID {
	var applied map[string]map[string]string
	if in.AzureCluster.Annotations[PlannedAnnotation] != "" || json.Unmarshal([]byte(in.AzureCluster.Annotations[infrav1.LastAppliedSecurityRulesAnnotation]), &applied) != nil {
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
