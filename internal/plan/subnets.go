package plan

import (
	"net/netip"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Messages for clusters without a subnet for some of their machines.
const (
	NoControlPlaneSubnet = "the cluster has no subnet with the role control-plane or cluster: add one"
	NoNodeSubnet         = "the cluster has no subnet with the role node or cluster: add one"
)

// HasSubnetRole reports whether one of the subnets has the role.
func HasSubnetRole(subnets infrav1.Subnets, role infrav1.SubnetRole) bool {
	return slices.ContainsFunc(subnets, func(s infrav1.SubnetSpec) bool { return s.Role == role })
}

// IsNodeSubnet returns true for the roles of subnets with nodes, alone or beside control-plane machines.
func IsNodeSubnet(role infrav1.SubnetRole) bool {
	return role == infrav1.SubnetNode || role == infrav1.SubnetCluster
}

// NodesHaveIPv6 reports whether a subnet of nodes has an IPv6 range.
func NodesHaveIPv6(subnets infrav1.Subnets) bool {
	return slices.ContainsFunc(subnets, func(s infrav1.SubnetSpec) bool { return IsNodeSubnet(s.Role) && HasIPv6Range(s.CIDRBlocks) })
}

// TemplateNodesHaveIPv6 is NodesHaveIPv6 for the subnets of a template.
func TemplateNodesHaveIPv6(subnets infrav1.SubnetTemplatesSpec) bool {
	return slices.ContainsFunc(subnets, func(s infrav1.SubnetTemplateSpec) bool { return IsNodeSubnet(s.Role) && HasIPv6Range(s.CIDRBlocks) })
}

// HasIPv6Range reports whether one of the CIDR blocks is an IPv6 range.
func HasIPv6Range(blocks []string) bool {
	return slices.ContainsFunc(blocks, func(block string) bool {
		prefix, err := netip.ParsePrefix(block)
		return err == nil && prefix.Addr().Is6()
	})
}

// ControlPlaneCIDRs returns the address ranges of the first subnet with control-plane machines.
func ControlPlaneCIDRs(subnets infrav1.Subnets) []string {
	for _, role := range []infrav1.SubnetRole{infrav1.SubnetControlPlane, infrav1.SubnetCluster} {
		i := slices.IndexFunc(subnets, func(s infrav1.SubnetSpec) bool { return s.Role == role })
		if i >= 0 {
			return subnets[i].CIDRBlocks
		}
	}
	return nil
}
