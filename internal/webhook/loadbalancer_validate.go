package webhook

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const (
	minIdleTimeout = 4
	maxIdleTimeout = 30

	// maxOutboundIPs is how many public addresses a load balancer for outbound connections may have.
	maxOutboundIPs = 16
)

// validateLBClass checks what the API server load balancers of clusters and of templates have in common.
func validateLBClass(lb infrav1.LoadBalancerClassSpec, path *field.Path) (errs field.ErrorList) {
	if lb.SKU != infrav1.SKUStandard {
		errs = append(errs, field.NotSupported(path.Child("sku"), lb.SKU, []infrav1.SKU{infrav1.SKUStandard}))
	}
	if lb.Type != infrav1.Public && lb.Type != infrav1.Internal {
		errs = append(errs, field.NotSupported(path.Child("type"), lb.Type, []infrav1.LBType{infrav1.Public, infrav1.Internal}))
	}
	return append(errs, validateIdleTimeout(lb.IdleTimeoutInMinutes, path)...)
}

func validateIdleTimeout(minutes *int32, path *field.Path) field.ErrorList {
	if minutes != nil && (*minutes < minIdleTimeout || *minutes > maxIdleTimeout) {
		return field.ErrorList{field.Invalid(path.Child("idleTimeoutInMinutes"), *minutes, fmt.Sprintf("must be between %d and %d minutes", minIdleTimeout, maxIdleTimeout))}
	}
	return nil
}

// validateAPIServerLB checks the load balancer of the API server. blocks are the ranges of the control-plane subnets.
func validateAPIServerLB(lb *infrav1.LoadBalancerSpec, blocks []string, features plan.Features, path *field.Path) field.ErrorList {
	if lb == nil {
		return field.ErrorList{field.Required(path, "a cluster with a control plane needs a load balancer for the API server")}
	}
	errs := validateLBClass(lb.LoadBalancerClassSpec, path)
	errs = append(errs, validateName(lb.Name, path.Child("name"))...)
	within, _ := parseCIDRs(blocks, path)
	public, private := 0, 0
	for i, frontend := range lb.FrontendIPs {
		path := path.Child("frontendIPs").Index(i)
		if frontend.PublicIP != nil {
			public++
			if lb.Type == infrav1.Internal {
				errs = append(errs, field.Forbidden(path.Child("publicIP"), "an internal load balancer has no public address"))
			}
		}
		if frontend.PrivateIPAddress == "" {
			continue
		}
		private++
		if lb.Type == infrav1.Public && !features.APIServerILB {
			errs = append(errs, field.Forbidden(path.Child("privateIP"), "a public load balancer has a private address only with the feature gate APIServerILB"))
			continue
		}
		errs = append(errs, validateAddress(frontend.PrivateIPAddress, within, blocks, "the control-plane subnet", path.Child("privateIP"))...)
	}
	switch {
	case lb.Type == infrav1.Public && public != 1:
		errs = append(errs, field.Invalid(path.Child("frontendIPs"), public, "a public load balancer of the API server needs exactly one frontend with a public address"))
	case lb.Type == infrav1.Internal && private != 1:
		errs = append(errs, field.Invalid(path.Child("frontendIPs"), private, "an internal load balancer of the API server needs exactly one frontend with a private address"))
	}
	if lb.Type == infrav1.Public && lb.FrontendIPsCount != nil && *lb.FrontendIPsCount != 1 {
		errs = append(errs, field.Invalid(path.Child("frontendIPsCount"), *lb.FrontendIPsCount, "must be 1 for the API server"))
	}
	return errs
}

// validateNodeOutboundLB checks the load balancer for outbound connections of nodes. Only nodes with IPv6 depend on it.
func validateNodeOutboundLB(lb, apiServerLB *infrav1.LoadBalancerSpec, ipv6 bool, path *field.Path) field.ErrorList {
	switch {
	case lb == nil && ipv6 && (apiServerLB == nil || apiServerLB.Type != infrav1.Internal):
		return field.ErrorList{field.Required(path, "nodes with IPv6 need a load balancer for outbound connections, because NAT gateways do IPv4 only; nodeOutboundLB: {} will do")}
	case lb == nil:
		return nil
	case !ipv6:
		return validateFrontendsCount(lb, maxFrontends, path)
	}
	return append(validateIdleTimeout(lb.IdleTimeoutInMinutes, path), validateFrontendsCount(lb, maxOutboundIPs, path)...)
}

// validateControlPlaneOutboundLB checks the load balancer for outbound connections of control-plane machines.
func validateControlPlaneOutboundLB(lb, apiServerLB *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	switch {
	case lb == nil || apiServerLB == nil:
		return nil
	case apiServerLB.Type == infrav1.Public:
		return field.ErrorList{field.Forbidden(path, "is for clusters whose apiServerLB has the type Internal; a public one serves outbound connections too")}
	}
	return append(validateIdleTimeout(lb.IdleTimeoutInMinutes, path), validateFrontendsCount(lb, maxOutboundIPs, path)...)
}

func validateFrontendsCount(lb *infrav1.LoadBalancerSpec, limit int32, path *field.Path) field.ErrorList {
	if lb.FrontendIPsCount != nil && (*lb.FrontendIPsCount < 0 || *lb.FrontendIPsCount > limit) {
		return field.ErrorList{field.Invalid(path.Child("frontendIPsCount"), *lb.FrontendIPsCount, fmt.Sprintf("must be at most %d", limit))}
	}
	return nil
}

// privateIP is the first private address of a load balancer, or "".
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
