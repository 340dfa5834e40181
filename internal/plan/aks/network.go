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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/network"
)

// hasNetworkOfAKS tells whether the cluster is in the network that AKS makes for one whose pools name no subnet, as az aks create does.
// Pools cannot move, so spec.addVirtualNetwork says nothing of such a cluster, and pools that are added go where the others are.
// https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni
func hasNetworkOfAKS(in Input) bool {
	pools := ObserveCluster(in.Facts.Cluster).Properties.AgentPoolProfiles
	return len(pools) > 0 && !slices.ContainsFunc(pools, func(pool observedPoolProfile) bool { return pool.VnetSubnetID != "" })
}

// addVirtualNetwork plans the network, or looks for the one that the user brought.
func addVirtualNetwork(in Input, g *arm.Graph) {
	if hasNetworkOfAKS(in) {
		return
	}
	node := arm.Node{ID: VNetID(in), Policy: arm.Observe, Foreign: arm.UseForeign, Group: infrav1.VNetReadyCondition}
	if !in.Facts.VNet.Foreign() || LastApplied(in).Made(node.ID) { // One that was made for the cluster and lost its tag is told.
		node.Policy = arm.Repair
		node.Body = armnetwork.VirtualNetwork{
			Location: new(Location(in)),
			Tags:     buildTags(in, infrav1.RoleCommon, VNetID(in).Name()),
			Properties: &armnetwork.VirtualNetworkPropertiesFormat{
				AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: plan.Pointers([]string{in.ControlPlane.Spec.VirtualNetwork.CIDRBlock})},
			},
		}
	}
	g.Add(node)
}

// addSubnet plans the subnet of the nodes. In a network that the user brought one that exists is used as it is, and only a
// missing one is made.
func addSubnet(in Input, g *arm.Graph) {
	if hasNetworkOfAKS(in) {
		return
	}
	node := arm.Node{ID: SubnetID(in), Policy: arm.Observe, Group: infrav1.SubnetsReadyCondition}
	if _, exists := existingSubnetPrefixes(in); !exists {
		spec := in.ControlPlane.Spec.VirtualNetwork.Subnet
		endpoints := network.ServiceEndpoints(spec.ServiceEndpoints)
		properties := readAttachments(in.Facts.Subnet)
		// Azure answers a single prefix in the singular property.
		properties.AddressPrefix, properties.ServiceEndpoints = new(spec.CIDRBlock), endpoints
		node.Policy, node.Body = arm.Repair, armnetwork.Subnet{Properties: properties}
		node.PlannedBody = armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{ServiceEndpoints: endpoints}}
	}
	g.Add(node)
}

// existingSubnetPrefixes are the prefixes of the subnet in a network that the user brought; ok is false when it is not there, or was
// made there for the cluster.
func existingSubnetPrefixes(in Input) (prefixes []string, ok bool) {
	return in.Facts.VNet.BYOSubnet(SubnetID(in), inventory.Of("AzureManagedControlPlane", in.ControlPlane))
}

// readAttachments is what users and AKS attach to the subnet and no field of the spec is about: outbound types demand a route
// table or a NAT gateway there, and kubenet brings a route table. A PUT replaces all of the subnet, so it is sent back.
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
	_ = json.Unmarshal(observed, &have) // Nothing is attached to what cannot be read.
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

// addPrivateEndpoints plans the private endpoints of the subnet. One that leads to the managed cluster itself comes after it.
func addPrivateEndpoints(in Input, g *arm.Graph) {
	for _, endpoint := range in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints {
		after := []arm.ID{SubnetID(in)}
		for _, connection := range endpoint.PrivateLinkServiceConnections {
			if arm.ID(connection.PrivateLinkServiceID).IsWithin(ClusterID(in)) && len(after) == 1 {
				after = append(after, ClusterID(in))
			}
		}
		g.Add(arm.Node{
			ID:     PrivateEndpointID(in, endpoint.Name),
			Body:   network.PrivateEndpoint(endpoint, SubnetID(in), cmp.Or(endpoint.Location, in.ControlPlane.Spec.Location), buildTags(in, "", endpoint.Name)),
			After:  after,
			Policy: arm.Repair,
			Group:  infrav1.PrivateEndpointsReadyCondition,
		})
	}
}

// missingAttachmentReason is what the cluster waits for because its outbound type demands it of the subnet, where only the user
// can attach it; "" when there is nothing to wait for.
func missingAttachmentReason(in Input) string {
	subnet := readAttachments(in.Facts.Subnet)
	text := "waits: spec.outboundType %s needs a %s on subnet %q of network %q: attach one"
	switch outbound := deref(in.ControlPlane.Spec.OutboundType); {
	case outbound == infrav1.ManagedControlPlaneOutboundTypeUserDefinedRouting && subnet.RouteTable == nil:
		return fmt.Sprintf(text, outbound, "route table with a default route", SubnetName(in), VNetID(in).Name())
	case outbound == infrav1.ManagedControlPlaneOutboundTypeUserAssignedNATGateway && subnet.NatGateway == nil:
		return fmt.Sprintf(text, outbound, "NAT gateway", SubnetName(in), VNetID(in).Name())
	}
	return ""
}
