package cluster

import (
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// checkLoadBalancers checks names, frontends and ports of the load balancers.
func checkLoadBalancers(in plan.ClusterInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	network := in.AzureCluster.Spec.NetworkSpec
	if lb := network.APIServerLB; lb != nil {
		here := path.Child("apiServerLB")
		errs = append(errs, checkLBName(here, lb)...)
		if lb.Type == infrav1.Internal || in.Features.APIServerILB {
			errs = append(errs, checkPrivateIPs(in, here, lb)...)
		}
		errs = append(errs, checkFrontends(here, lb)...)
	}
	if lb := network.NodeOutboundLB; lb != nil {
		errs = append(errs, checkLBName(path.Child("nodeOutboundLB"), lb)...)
	}
	if lb := network.ControlPlaneOutboundLB; lb != nil {
		errs = append(errs, checkLBName(path.Child("controlPlaneOutboundLB"), lb)...)
	}
	return append(errs, checkAdditionalPorts(in, path.Child("additionalAPIServerLBPorts"))...)
}

func checkLBName(path *field.Path, lb *infrav1.LoadBalancerSpec) field.ErrorList {
	if lb.Name == "" {
		return field.ErrorList{field.Required(path.Child("name"), "set the name of the load balancer")}
	}
	return nil
}

// checkFrontends demands one frontend of the kind that the type of load balancer needs.
func checkFrontends(path *field.Path, lb *infrav1.LoadBalancerSpec) field.ErrorList {
	for _, frontend := range lb.FrontendIPs {
		if lb.Type == infrav1.Internal && frontend.PrivateIPAddress != "" || lb.Type != infrav1.Internal && frontend.PublicIP != nil &&
			frontend.PublicIP.Name != "" {
			return nil
		}
	}
	if lb.Type == infrav1.Internal {
		return field.ErrorList{field.Required(path.Child("frontendIPs"), "a load balancer of type Internal needs a frontend with a privateIP")}
	}
	return field.ErrorList{field.Required(path.Child("frontendIPs"),
		"a load balancer of type Public needs a frontend with a publicIP that has a name")}
}

// checkPrivateIPs refuses addresses of an internal load balancer outside of the control plane's subnet, or reserved by
// Azure. In a subnet that users brought, the ranges are those that Azure shows.
func checkPrivateIPs(in plan.ClusterInput, path *field.Path, lb *infrav1.LoadBalancerSpec) field.ErrorList {
	subnet, ok := plan.ControlPlaneSubnet(in)
	if !ok {
		return nil
	}
	blocks := subnet.CIDRBlocks
	if have, exists := existingSubnetPrefixes(in, subnet.Name); exists {
		blocks = have
	}
	var errs field.ErrorList
	for i, frontend := range lb.FrontendIPs {
		if frontend.PrivateIPAddress == "" {
			continue
		}
		here := path.Child("frontendIPs").Index(i).Child("privateIP")
		address, err := netip.ParseAddr(frontend.PrivateIPAddress)
		if err != nil {
			errs = append(errs, field.Invalid(here, frontend.PrivateIPAddress, "is not an IP address"))
			continue
		}
		within := false
		for _, cidr := range blocks {
			prefix, err := netip.ParsePrefix(cidr)
			if err != nil || !prefix.Contains(address) {
				continue
			}
			within = true
			if isReservedAddress(prefix.Masked(), address) {
				errs = append(errs, field.Invalid(here, frontend.PrivateIPAddress,
					fmt.Sprintf("Azure keeps the first four addresses and the last one of %s for itself: choose another one", prefix)))
			}
		}
		if !within && !plan.IsDefaultInternalFrontend(lb, frontend) {
			errs = append(errs, field.Invalid(here, frontend.PrivateIPAddress,
				fmt.Sprintf("is not within the subnet %q of the control plane, which has %s: choose an address in it", subnet.Name,
					plan.ListRanges(blocks))))
		}
	}
	return errs
}

// isReservedAddress returns true for the addresses of a subnet that Azure keeps for itself.
func isReservedAddress(prefix netip.Prefix, address netip.Addr) bool {
	first := prefix.Addr()
	for range reservedAddresses {
		if first == address {
			return true
		}
		first = first.Next()
	}
	return prefix.Addr().Is4() && !prefix.Contains(address.Next())
}

// sshPort is the port of the control-plane machines to which inbound NAT rules of a public load balancer lead.
const sshPort = 22

// checkAdditionalPorts refuses additional ports that clash with the API server's, with each other, or with SSH. Azure refuses two rules to one
// port of a machine, whatever the frontend ports are: RulesUseSameBackendPortProtocolAndPool when the load balancer is written
// (https://github.com/MicrosoftDocs/azure-docs/issues/94673), and RulesUseSameBackendPortProtocolAndIPConfig when an interface joins a pool and
// an inbound NAT rule (https://github.com/hashicorp/terraform-provider-azurerm/issues/84).
func checkAdditionalPorts(in plan.ClusterInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	_, port := APIServerEndpoint(in)
	backendPort := plan.APIServerPort(in)
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	hasSSH := lb != nil && lb.Type != infrav1.Internal
	names, ports := map[string]bool{strings.ToLower(plan.APIServerRule): true}, map[int32]bool{port: true}
	for i, additional := range in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts {
		if name := strings.ToLower(additional.Name); names[name] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("name"), additional.Name))
		} else {
			names[name] = true
		}
		here := path.Index(i).Child("port")
		switch {
		case ports[additional.Port]:
			errs = append(errs, field.Duplicate(here, additional.Port))
		case additional.Port == backendPort:
			errs = append(errs, field.Invalid(here, additional.Port, fmt.Sprintf(
				"port %d already leads to this port of the control-plane machines, and Azure allows one rule for a port of a machine: remove it",
				port)))
		case additional.Port == sshPort && hasSSH:
			errs = append(errs, field.Invalid(here, additional.Port,
				"a public API server load balancer has a rule for SSH to this port of each control-plane machine, and Azure allows one rule for a port of a machine: remove it"))
		}
		ports[additional.Port] = true
	}
	return errs
}
