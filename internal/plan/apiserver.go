package plan

import (
	"cmp"
	"net/netip"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ControlPlaneSubnet returns the subnet of the control-plane machines and of the frontends of internal load balancers: the
// first one with the role control-plane, else the first one with the role cluster. ok is false if the spec has neither.
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

// InternalAPIServerFrontendName returns the default name of a frontend of the internal load balancer that is created
// beside the public one.
func InternalAPIServerFrontendName(lb *infrav1.LoadBalancerSpec) string {
	return lb.Name + "-frontEnd-internal-ip"
}

// IsDefaultInternalFrontend returns true for the frontend that the feature gate APIServerILB adds to a public load
// balancer by default, and false for one that a user wrote.
func IsDefaultInternalFrontend(lb *infrav1.LoadBalancerSpec, frontend infrav1.FrontendIP) bool {
	return frontend.Name == InternalAPIServerFrontendName(lb) && frontend.PrivateIPAddress == DefaultInternalLBIP
}

// InternalAPIServerFrontends returns the frontends of the internal load balancer that the feature gate APIServerILB puts
// beside the public one of the API server. Without frontends there is no such load balancer. The default frontend is left
// out if the control plane's subnet does not contain its address, so that clusters with other address ranges keep working
// when the gate is turned on. They get the load balancer when the spec sets an address.
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

// hasDefaultAddress returns true if the subnet of the control plane contains DefaultInternalLBIP. In a network that users
// brought, the ranges are those that Azure shows.
func hasDefaultAddress(in ClusterInput, network VNetFact) bool {
	subnet, _ := ControlPlaneSubnet(in)
	blocks := subnet.CIDRBlocks
	if have, brought := BYOSubnetPrefixes(in, network, subnet.Name); brought {
		blocks = have
	}
	return IsAddressWithin(DefaultInternalLBIP, blocks)
}

// IsAddressWithin returns true if one of the CIDR blocks contains the address. It returns false for an address that does
// not parse, and ignores blocks that do not parse.
func IsAddressWithin(address string, blocks []string) bool {
	parsed, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(blocks, func(block string) bool {
		prefix, err := netip.ParsePrefix(block)
		return err == nil && prefix.Contains(parsed)
	})
}

// NormalizeAddress returns the address in the spelling in which addresses are compared: IPv6 has several. An address that
// does not parse stays as it is.
func NormalizeAddress(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	return parsed.String()
}
