package webhook

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const (
	// maxIdleTimeout is the longest idle timeout of outbound connections of nodes with IPv6, in minutes.
	maxIdleTimeout = 30

	// maxOutboundIPs is the largest number of public addresses of a load balancer for outbound connections.
	maxOutboundIPs = 16
)

func validateIdleTimeout(minutes *int32, path *field.Path) field.ErrorList {
	if minutes != nil && *minutes > maxIdleTimeout {
		return field.ErrorList{field.Invalid(path.Child("idleTimeoutInMinutes"), *minutes,
			fmt.Sprintf("must be between %d and %d minutes", defaults.IdleTimeoutInMinutes, maxIdleTimeout))}
	}
	return nil
}

// validateAPIServerLB checks the private addresses of the API server's load balancer. blocks are the ranges of the
// control-plane subnets.
func validateAPIServerLB(lb *infrav1.LoadBalancerSpec, blocks []string, features plan.Features, path *field.Path) (errs field.ErrorList) {
	if lb == nil {
		return field.ErrorList{field.Required(path, "a cluster with a control plane needs a load balancer for the API server")}
	}
	parsed, _ := parseCIDRs(blocks, path)
	within := plan.NewRangeSet(parsed)
	for i, frontend := range lb.FrontendIPs {
		path := path.Child("frontendIPs").Index(i)
		if frontend.PrivateIPAddress == "" {
			continue
		}
		if lb.Type == infrav1.Public && !features.APIServerILB {
			errs = append(errs, field.Forbidden(path.Child("privateIP"),
				"a private address of a public load balancer needs the feature gate APIServerILB: start the manager with --feature-gates=APIServerILB=true, or remove the field"))
			continue
		}
		errs = append(errs, validateAddress(frontend.PrivateIPAddress, within, blocks, "the control-plane subnet", path.Child("privateIP"))...)
	}
	return errs
}

// validateNodeOutboundLB checks the load balancer for outbound connections of nodes. Only nodes with IPv6 depend on it.
func validateNodeOutboundLB(lb, apiServerLB *infrav1.LoadBalancerSpec, ipv6 bool, path *field.Path) field.ErrorList {
	switch {
	case lb == nil && ipv6 && (apiServerLB == nil || apiServerLB.Type != infrav1.Internal):
		return field.ErrorList{field.Required(path,
			"nodes with IPv6 need a load balancer for outbound connections, because NAT gateways support IPv4 only. Set nodeOutboundLB: {} to use the defaults")}
	case lb == nil || !ipv6:
		return nil
	}
	return append(validateIdleTimeout(lb.IdleTimeoutInMinutes, path), validateFrontendsCount(lb, path)...)
}

func validateFrontendsCount(lb *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	if lb.FrontendIPsCount != nil && *lb.FrontendIPsCount > maxOutboundIPs {
		return field.ErrorList{field.Invalid(path.Child("frontendIPsCount"), *lb.FrontendIPsCount,
			fmt.Sprintf("must be at most %d", maxOutboundIPs))}
	}
	return nil
}

// privateIP returns the first private address of a load balancer, or "".
func privateIP(lb *infrav1.LoadBalancerSpec) string {
	for _, frontend := range lb.FrontendIPs {
		if frontend.PrivateIPAddress != "" {
			return frontend.PrivateIPAddress
		}
	}
	return ""
}

// samePrivateIP compares addresses, of which IPv6 has several spellings.
func samePrivateIP(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	return a == b || errX == nil && errY == nil && x == y
}
