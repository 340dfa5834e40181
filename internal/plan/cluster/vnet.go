package cluster

import (
	"net/netip"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// addVirtualNetwork adds the network, or reads the one that users brought.
func addVirtualNetwork(in plan.ClusterInput, g *arm.Graph) {
	node := arm.Node{
		ID:      plan.VNetID(in),
		Policy:  arm.Observe,
		Foreign: arm.UseForeign,
		Group:   infrav1.VNetReadyCondition,
	}
	if !plan.IsBYONetwork(in, in.Facts.VNet) {
		if in.Facts.VNet.IsForeign() {
			node.Foreign = arm.RefuseForeign // The tag of the cluster's own network was removed. A condition has to report that.
		}
		node.Policy = arm.Repair
		node.Body = buildVirtualNetwork(in, in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks)
	}
	g.Add(node)
}

func buildVirtualNetwork(in plan.ClusterInput, prefixes []string) armnetwork.VirtualNetwork {
	return armnetwork.VirtualNetwork{
		Location:         new(plan.Location(in)),
		ExtendedLocation: plan.ToExtendedLocation(in.AzureCluster.Spec.ExtendedLocation),
		Tags:             plan.BuildTags(in, infrav1.RoleCommon, plan.VNetName(in), in.AzureCluster.Spec.AdditionalTags),
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{
			AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: plan.ToPointers(prefixes)},
		},
	}
}

// keepForeignPrefixes adds the network's address ranges of others to its body.
func keepForeignPrefixes(in plan.ClusterInput, g *arm.Graph, sent applied.State) {
	if node := g.Node(plan.VNetID(in)); node != nil && node.Policy == arm.Repair {
		node.PlannedBody, node.Body = node.Body, buildVirtualNetwork(in, mergeAddressPrefixes(in, sent))
	}
}

// mergeAddressPrefixes returns the address ranges of the network: the spec's, and those that users added in Azure. A range
// of an earlier spec is removed. A range that overlaps the spec's is left out, because Azure refuses both together.
func mergeAddressPrefixes(in plan.ClusterInput, sent applied.State) []string {
	out := slices.Clone(in.AzureCluster.Spec.NetworkSpec.Vnet.CIDRBlocks)
	for _, have := range in.Facts.VNet.AddressPrefixes {
		prefix, err := netip.ParsePrefix(have)
		shared := func(other string) bool {
			ours, otherErr := netip.ParsePrefix(other)
			return err != nil || otherErr != nil || ours.Overlaps(prefix)
		}
		ours := sent.HasElement(plan.VNetID(in), "properties.addressSpace.addressPrefixes", have)
		if !slices.ContainsFunc(out, shared) && !ours {
			out = append(out, have)
		}
	}
	return out
}
