package aks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// hasNetworkOfAKS reports whether the cluster uses the network that AKS creates if pools name no subnet, as with az aks create.
// Pools cannot move, so spec.virtualNetwork does not apply to such a cluster, and additional pools use the same network.
// https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni
func hasNetworkOfAKS(in Input) bool {
	pools := managedcluster.Observe(in.Facts.Cluster).Properties.AgentPoolProfiles
	return len(pools) > 0 && !slices.ContainsFunc(pools, func(pool managedcluster.PoolProfile) bool { return pool.VnetSubnetID != "" })
}

// addVirtualNetwork adds the virtual network, for observation only if users created it.
func addVirtualNetwork(in Input, g *arm.Graph) {
	if hasNetworkOfAKS(in) {
		return
	}
	node := arm.Node{ID: VNetID(in), Policy: arm.Observe, Foreign: arm.UseForeign, Group: infrav1.VNetReadyCondition}
	if !in.Facts.VNet.IsForeign() || LastApplied(in).IsRecorded(node.ID) { // A network created for the cluster that lost its tag is reported.
		node.Policy = arm.Repair
		node.Body = armnetwork.VirtualNetwork{
			Location: new(Location(in)),
			Tags:     buildTags(in, infrav1.RoleCommon, VNetID(in).Name()),
			Properties: &armnetwork.VirtualNetworkPropertiesFormat{
				AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: plan.ToPointers([]string{in.ControlPlane.Spec.VirtualNetwork.CIDRBlock})},
			},
		}
	}
	g.Add(node)
}

// addSubnet adds the subnet of the nodes. In a network of the user, an existing subnet is used as it is, and a missing one is
// created.
func addSubnet(in Input, g *arm.Graph) {
	if hasNetworkOfAKS(in) {
		return
	}
	node := arm.Node{ID: SubnetID(in), Policy: arm.Observe, Group: infrav1.SubnetsReadyCondition}
	if _, exists := existingSubnetPrefixes(in); !exists {
		spec := in.ControlPlane.Spec.VirtualNetwork.Subnet
		endpoints := plan.BuildServiceEndpoints(spec.ServiceEndpoints)
		properties := readAttachments(in.Facts.Subnet)
		// Azure shows a single prefix in the singular property.
		properties.AddressPrefix, properties.ServiceEndpoints = new(spec.CIDRBlock), endpoints
		node.Policy, node.Body = arm.Repair, armnetwork.Subnet{Properties: properties}
		node.PlannedBody = armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{ServiceEndpoints: endpoints}}
	}
	g.Add(node)
}

// existingSubnetPrefixes returns the prefixes of the subnet in a network of the user. ok is false if the subnet does not exist or
// was created for the cluster.
func existingSubnetPrefixes(in Input) (prefixes []string, ok bool) {
	return in.Facts.VNet.BYOSubnetPrefixes(SubnetID(in), applied.ReadInventory("AzureManagedControlPlane", in.ControlPlane))
}

// readAttachments returns the resources attached to the subnet by users and AKS that no field of the spec describes. Some outbound
// types require a route table or NAT gateway, and kubenet attaches a route table. They are part of the body, because a PUT replaces
// the whole subnet.
func readAttachments(observed json.RawMessage) *armnetwork.SubnetPropertiesFormat {
	var have struct {
		Properties struct {
			NetworkSecurityGroup, RouteTable, NatGateway struct {
				ID string `json:"id"`
			}
			Delegations []struct {
				Name       string `json:"name"`
				Properties struct {
					ServiceName string `json:"serviceName"`
				} `json:"properties"`
			} `json:"delegations"`
			PrivateEndpointNetworkPolicies    string `json:"privateEndpointNetworkPolicies"`
			PrivateLinkServiceNetworkPolicies string `json:"privateLinkServiceNetworkPolicies"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(observed, &have) // An unreadable subnet has no attachments.
	out, p := &armnetwork.SubnetPropertiesFormat{}, have.Properties
	if id := p.NetworkSecurityGroup.ID; id != "" {
		out.NetworkSecurityGroup = &armnetwork.SecurityGroup{ID: new(id)}
	}
	if id := p.RouteTable.ID; id != "" {
		out.RouteTable = &armnetwork.RouteTable{ID: new(id)}
	}
	if id := p.NatGateway.ID; id != "" {
		out.NatGateway = &armnetwork.SubResource{ID: new(id)}
	}
	for _, delegation := range p.Delegations {
		out.Delegations = append(out.Delegations, &armnetwork.Delegation{
			Name:       new(delegation.Name),
			Properties: &armnetwork.ServiceDelegationPropertiesFormat{ServiceName: new(delegation.Properties.ServiceName)},
		})
	}
	if policy := p.PrivateEndpointNetworkPolicies; policy != "" {
		out.PrivateEndpointNetworkPolicies = new(armnetwork.VirtualNetworkPrivateEndpointNetworkPolicies(policy))
	}
	if policy := p.PrivateLinkServiceNetworkPolicies; policy != "" {
		out.PrivateLinkServiceNetworkPolicies = new(armnetwork.VirtualNetworkPrivateLinkServiceNetworkPolicies(policy))
	}
	return out
}

// addPrivateEndpoints adds the private endpoints of the subnet. An endpoint of the managed cluster itself depends on the cluster.
func addPrivateEndpoints(in Input, g *arm.Graph) {
	for _, endpoint := range in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints {
		after := []arm.ID{SubnetID(in)}
		for _, connection := range endpoint.PrivateLinkServiceConnections {
			if arm.ID(connection.PrivateLinkServiceID).IsWithin(ClusterID(in)) && len(after) == 1 {
				after = append(after, ClusterID(in))
			}
		}
		g.Add(arm.Node{
			ID: PrivateEndpointID(in, endpoint.Name),
			Body: plan.BuildPrivateEndpoint(endpoint, SubnetID(in), cmp.Or(endpoint.Location, in.ControlPlane.Spec.Location),
				buildTags(in, "", endpoint.Name)),
			After:  after,
			Policy: arm.Repair,
			Group:  infrav1.PrivateEndpointsReadyCondition,
		})
	}
}

// missingAttachmentReason returns the message about an attachment of the subnet that the outbound type requires and only users can
// create, "" if none is missing.
func missingAttachmentReason(in Input) string {
	subnet := readAttachments(in.Facts.Subnet)
	text := "spec.outboundType %s requires a %s on subnet %q of network %q: attach one"
	switch outbound := plan.Dereference(in.ControlPlane.Spec.OutboundType); {
	case outbound == infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting && subnet.RouteTable == nil:
		return fmt.Sprintf(text, outbound, "route table with a default route", SubnetName(in), VNetID(in).Name())
	case outbound == infrav1.ManagedControlPlaneOutboundTypeUserAssignedNATGateway && subnet.NatGateway == nil:
		return fmt.Sprintf(text, outbound, "NAT gateway", SubnetName(in), VNetID(in).Name())
	}
	return ""
}
