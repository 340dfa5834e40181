package defaults

import (
	"cmp"
	"fmt"
	"slices"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// maxFrontends is how many frontends a Standard load balancer has at most, see
// https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#load-balancer.
const maxFrontends = 600

func fillAPIServerLB(c *infrav1.AzureCluster) {
	network := &c.Spec.NetworkSpec
	if !c.Spec.ControlPlaneEnabled {
		network.APIServerLB = nil
		return
	}
	if network.APIServerLB == nil {
		network.APIServerLB = &infrav1.LoadBalancerSpec{}
	}
	lb := network.APIServerLB
	fillLBClass(&lb.LoadBalancerClassSpec)
	switch lb.Type {
	case infrav1.Public:
		lb.Name = cmp.Or(lb.Name, c.Name+"-public-lb")
		if len(lb.FrontendIPs) == 0 {
			lb.FrontendIPs = []infrav1.FrontendIP{{Name: lb.Name + "-frontEnd",
				PublicIP: &infrav1.PublicIPSpec{Name: "pip-" + c.Name + "-apiserver"}}}
		}
	case infrav1.Internal:
		lb.Name = cmp.Or(lb.Name, c.Name+"-internal-lb")
		if len(lb.FrontendIPs) == 0 {
			lb.FrontendIPs = []infrav1.FrontendIP{{Name: lb.Name + "-frontEnd",
				FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: plan.DefaultInternalLBIP}}}
		}
	}
	if lb.Name != "" {
		lb.BackendPool.Name = cmp.Or(lb.BackendPool.Name, lb.Name+"-backendPool")
	}
}

// FillInternalAPIServerFrontend gives a public API server load balancer the frontend with a private address that the
// feature gate APIServerILB stands for, where the control plane's subnet has the address. It comes after
// FillAzureCluster.
func FillInternalAPIServerFrontend(c *infrav1.AzureCluster) {
	lb := c.Spec.NetworkSpec.APIServerLB
	if lb == nil || lb.Type != infrav1.Public {
		return
	}
	name := plan.InternalAPIServerFrontendName(lb)
	i := slices.IndexFunc(lb.FrontendIPs, func(f infrav1.FrontendIP) bool { return f.PrivateIPAddress != "" })
	if i < 0 {
		if plan.IsAddressWithin(plan.DefaultInternalLBIP, plan.ControlPlaneCIDRs(c.Spec.NetworkSpec.Subnets)) {
			lb.FrontendIPs = append(lb.FrontendIPs,
				infrav1.FrontendIP{Name: name, FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: plan.DefaultInternalLBIP}})
		}
		return
	}
	lb.FrontendIPs[i].Name = cmp.Or(lb.FrontendIPs[i].Name, name)
}

// fillNodeOutboundLB adds a load balancer for the outbound connections of nodes with IPv6, for which there are no NAT
// gateways, and fills in one that is there.
func fillNodeOutboundLB(c *infrav1.AzureCluster) {
	network := &c.Spec.NetworkSpec
	if network.NodeOutboundLB == nil {
		if !c.Spec.ControlPlaneEnabled || network.APIServerLB.Type != infrav1.Public || !plan.NodesHaveIPv6(network.Subnets) {
			return
		}
		network.NodeOutboundLB = &infrav1.LoadBalancerSpec{}
	}
	lb := network.NodeOutboundLB
	lb.Name = cmp.Or(lb.Name, c.Name)
	fillOutboundLB(lb, "pip-"+c.Name+"-node-outbound")
	lb.BackendPool.Name = cmp.Or(lb.BackendPool.Name, lb.Name+"-outboundBackendPool")
}

func fillControlPlaneOutboundLB(c *infrav1.AzureCluster) {
	lb := c.Spec.NetworkSpec.ControlPlaneOutboundLB
	if lb == nil || !c.Spec.ControlPlaneEnabled {
		return
	}
	lb.Name = cmp.Or(lb.Name, c.Name+"-outbound-lb")
	fillOutboundLB(lb, "pip-"+c.Name+"-controlplane-outbound")
	// The name of the pool does not follow that of the load balancer: clusters with a load balancer of another name have
	// their machines in it.
	lb.BackendPool.Name = cmp.Or(lb.BackendPool.Name, c.Name+"-outbound-lb-outboundBackendPool")
}

// fillOutboundLB fills in the fields that outbound load balancers have in common. The frontends follow from their number.
func fillOutboundLB(lb *infrav1.LoadBalancerSpec, publicIP string) {
	lb.Type, lb.SKU = infrav1.Public, infrav1.SKUStandard
	fillLBClass(&lb.LoadBalancerClassSpec)
	if lb.FrontendIPsCount == nil {
		lb.FrontendIPsCount = new(int32(1))
	}
	lb.FrontendIPs = nil
	for i := range min(*lb.FrontendIPsCount, maxFrontends) {
		suffix := ""
		if *lb.FrontendIPsCount > 1 {
			suffix = fmt.Sprintf("-%d", i+1)
		}
		lb.FrontendIPs = append(lb.FrontendIPs, infrav1.FrontendIP{
			Name: lb.Name + "-frontEnd" + suffix, PublicIP: &infrav1.PublicIPSpec{Name: publicIP + suffix},
		})
	}
}

func fillLBClass(lb *infrav1.LoadBalancerClassSpec) {
	lb.Type = cmp.Or(lb.Type, infrav1.Public)
	lb.SKU = cmp.Or(lb.SKU, infrav1.SKUStandard)
	if lb.IdleTimeoutInMinutes == nil {
		lb.IdleTimeoutInMinutes = new(IdleTimeoutInMinutes)
	}
}
