package plan

import (
	"cmp"
	"net/netip"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ControlPlaneSubnet is the subnet of the control-plane machines and of the frontends of internal load balancers: that
// with the role control-plane, else the one for the whole cluster.
func ControlPlaneSubnet(in ClusterInput) (infrav1.SubnetSpec, bool) {
	for _, role := range []infrav1.SubnetRole{infrav1.SubnetControlPlane, infrav1.SubnetCluster} {
		for _, subnet := range in.AzureCluster.Spec.NetworkSpec.Subnets {
			if subnet.Role == role {
				return subnet, true
			}
		}
	}
	return infrav1.SubnetSpec{}, false
}

// InternalAPIServerFrontendName is the name of a frontend of the internal load balancer beside the public one where the
// spec gives it none.
func InternalAPIServerFrontendName(lb *infrav1.LoadBalancerSpec) string {
	return lb.Name + "-frontEnd-internal-ip"
}

// IsDefaultInternalFrontend tells whether a frontend of a public load balancer is what the feature gate APIServerILB adds, and nothing that
// somebody asked for.
func IsDefaultInternalFrontend(lb *infrav1.LoadBalancerSpec, frontend infrav1.FrontendIP) bool {
	return frontend.Name == InternalAPIServerFrontendName(lb) && frontend.PrivateIPAddress == DefaultInternalLBIP
}

// InternalAPIServerFrontends are the frontends of the internal load balancer beside the public one of the API server, which
// the feature gate APIServerILB stands for; there is no such load balancer without any. The address that the gate brings
// counts only where the control plane's subnet has it: a cluster with other ranges works on when the gate is turned on, and
// gets the load balancer when an address is named.
func InternalAPIServerFrontends(in ClusterInput, network VNetFact) []infrav1.FrontendIP {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if lb == nil || lb.Type == infrav1.Internal || !in.Features.APIServerILB {
		return nil
	}
	var out []infrav1.FrontendIP
	for _, frontend := range lb.FrontendIPs {
		if frontend.PrivateIPAddress != "" {
			frontend.Name = cmp.Or(frontend.Name, InternalAPIServerFrontendName(lb))
			out = append(out, frontend)
		}
	}
	if len(out) == 0 {
		frontend := infrav1.FrontendIP{Name: InternalAPIServerFrontendName(lb)}
		frontend.PrivateIPAddress = DefaultInternalLBIP
		out = append(out, frontend)
	}
	return slices.DeleteFunc(out, func(frontend infrav1.FrontendIP) bool {
		return IsDefaultInternalFrontend(lb, frontend) && !hasDefaultAddress(in, network)
	})
}

// hasDefaultAddress tells whether DefaultInternalLBIP is in the subnet of the control plane, whose ranges Azure has where
// users brought it.
func hasDefaultAddress(in ClusterInput, network VNetFact) bool {
	subnet, _ := ControlPlaneSubnet(in)
	blocks := subnet.CIDRBlocks
	if have, brought := BYOSubnetPrefixes(in, network, subnet.Name); brought {
		blocks = have
	}
	return IsAddressWithin(DefaultInternalLBIP, blocks)
}

// IsAddressWithin tells whether an address is in one of the ranges. What does not parse is nowhere.
func IsAddressWithin(address string, blocks []string) bool {
	parsed, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(blocks, func(block string) bool {
		prefix, err := netip.ParsePrefix(block)
		return err == nil && prefix.Contains(parsed)
	})
}

// NormalizeAddress is an address as it is compared: IPv6 has several spellings.
func NormalizeAddress(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return parsed.String()
}
