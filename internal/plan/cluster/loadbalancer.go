package cluster

import (
	"cmp"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// probeInterval is the interval of the load balancer's health probe of the API server, in seconds.
const probeInterval = 15

// addLoadBalancers adds the load balancers: the API server's, the internal one beside it if the spec asks for it, and
// those for outbound connections of machines.
func addLoadBalancers(in plan.ClusterInput, g *arm.Graph) {
	network := in.AzureCluster.Spec.NetworkSpec
	if lb := network.APIServerLB; lb != nil {
		build := newLoadBalancerBuilder(in, lb, lb.Name, plan.APIServerPoolName(lb))
		if lb.Type == infrav1.Internal {
			build.addPrivateFrontends(lb.FrontendIPs)
		} else {
			build.addPublicFrontends()
			build.addOutboundRule()
		}
		build.addAPIServerRules()
		build.addToGraph(g, infrav1.RoleAPIServer)
	}
	if lb, frontends := network.APIServerLB, buildInternalFrontends(in); len(frontends) > 0 {
		build := newLoadBalancerBuilder(in, lb, plan.InternalAPIServerLBName(lb), plan.InternalAPIServerPoolName(lb))
		build.addPrivateFrontends(frontends)
		build.addAPIServerRules()
		build.addToGraph(g, infrav1.RoleAPIServerInternal)
	}
	if lb := network.NodeOutboundLB; lb != nil {
		build := newLoadBalancerBuilder(in, lb, lb.Name, plan.NodeOutboundPoolName(lb))
		build.addPublicFrontends()
		build.addOutboundRule()
		build.addToGraph(g, infrav1.RoleNodeOutbound)
	}
	if lb := network.ControlPlaneOutboundLB; lb != nil && in.AzureCluster.Spec.ControlPlaneEnabled {
		build := newLoadBalancerBuilder(in, lb, lb.Name, plan.ControlPlaneOutboundPoolName(in, lb))
		build.addPublicFrontends()
		build.addOutboundRule()
		build.addToGraph(g, infrav1.RoleControlPlaneOutbound)
	}
}

// buildInternalFrontends returns the frontends of the internal load balancer beside the public one. An existing frontend
// keeps its name, because Azure gives an address to one frontend only, and the established provider named its default
// frontend differently.
func buildInternalFrontends(in plan.ClusterInput) []infrav1.FrontendIP {
	out := plan.InternalAPIServerFrontends(in, in.Facts.VNet)
	for i := range out {
		if name, ok := in.Facts.InternalFrontends[plan.NormalizeAddress(out[i].PrivateIPAddress)]; ok {
			out[i].Name = name
		}
	}
	return out
}

// loadBalancerBuilder collects the parts of one load balancer.
type loadBalancerBuilder struct {
	in           plan.ClusterInput
	spec         *infrav1.LoadBalancerSpec
	id           arm.ID
	pool         arm.ID
	frontends    []arm.ID
	dependencies []arm.ID
	properties   *armnetwork.LoadBalancerPropertiesFormat
}

func newLoadBalancerBuilder(in plan.ClusterInput, spec *infrav1.LoadBalancerSpec, name, pool string) *loadBalancerBuilder {
	id := plan.LoadBalancerID(in, name)
	return &loadBalancerBuilder{
		in: in, spec: spec, id: id, pool: plan.PoolID(id, pool),
		properties: &armnetwork.LoadBalancerPropertiesFormat{
			FrontendIPConfigurations: []*armnetwork.FrontendIPConfiguration{},
			BackendAddressPools:      []*armnetwork.BackendAddressPool{{Name: new(pool)}},
			LoadBalancingRules:       []*armnetwork.LoadBalancingRule{},
			Probes:                   []*armnetwork.Probe{},
			OutboundRules:            []*armnetwork.OutboundRule{},
		},
	}
}

// addPublicFrontends adds a frontend per public address. The zones are those of the address.
func (b *loadBalancerBuilder) addPublicFrontends() {
	for _, frontend := range b.spec.FrontendIPs {
		if frontend.PublicIP == nil {
			continue
		}
		address := plan.PublicIPID(b.in, frontend.PublicIP.Name)
		b.dependencies = append(b.dependencies, address)
		b.frontends = append(b.frontends, plan.FrontendID(b.id, frontend.Name))
		b.properties.FrontendIPConfigurations = append(b.properties.FrontendIPConfigurations, &armnetwork.FrontendIPConfiguration{
			Name: new(frontend.Name),
			Properties: &armnetwork.FrontendIPConfigurationPropertiesFormat{
				PublicIPAddress: &armnetwork.PublicIPAddress{ID: plan.ToIDPointer(address)},
			},
		})
	}
}

// addPrivateFrontends adds frontends with fixed addresses in the subnet of the control plane.
func (b *loadBalancerBuilder) addPrivateFrontends(frontends []infrav1.FrontendIP) {
	subnet, ok := plan.ControlPlaneSubnet(b.in)
	if !ok {
		return
	}
	subnetID := plan.SubnetID(b.in, subnet.Name)
	b.dependencies = append(b.dependencies, subnetID)
	for _, frontend := range frontends {
		b.frontends = append(b.frontends, plan.FrontendID(b.id, frontend.Name))
		b.properties.FrontendIPConfigurations = append(b.properties.FrontendIPConfigurations, &armnetwork.FrontendIPConfiguration{
			Name:  new(frontend.Name),
			Zones: sortedZones(b.spec.AvailabilityZones),
			Properties: &armnetwork.FrontendIPConfigurationPropertiesFormat{
				PrivateIPAddress:          new(frontend.PrivateIPAddress),
				PrivateIPAddressVersion:   new(ipVersion(frontend.PrivateIPAddress)),
				PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic),
				Subnet:                    &armnetwork.Subnet{ID: plan.ToIDPointer(subnetID)},
			},
		})
	}
}

// addAPIServerRules adds the probe and the rules of the API server and of the additional ports.
func (b *loadBalancerBuilder) addAPIServerRules() {
	port := plan.APIServerPort(b.in)
	b.properties.Probes = append(b.properties.Probes, &armnetwork.Probe{
		Name: new(plan.APIServerProbe),
		Properties: &armnetwork.ProbePropertiesFormat{
			Protocol:          new(armnetwork.ProbeProtocolHTTPS),
			RequestPath:       new("/readyz"),
			Port:              new(port),
			IntervalInSeconds: new(int32(probeInterval)),
			ProbeThreshold:    new(int32(1)),
		},
	})
	b.addRule(plan.APIServerRule, cmp.Or(b.in.AzureCluster.Spec.ControlPlaneEndpoint.Port, port), port)
	for _, additional := range b.in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts {
		b.addRule(additional.Name, additional.Port, additional.Port)
	}
}

// addRule adds a load-balancing rule to the backend pool, from the first frontend.
func (b *loadBalancerBuilder) addRule(name string, frontendPort, backendPort int32) {
	if len(b.frontends) == 0 {
		return
	}
	b.properties.LoadBalancingRules = append(b.properties.LoadBalancingRules, &armnetwork.LoadBalancingRule{
		Name: new(name),
		Properties: &armnetwork.LoadBalancingRulePropertiesFormat{
			Protocol:                new(armnetwork.TransportProtocolTCP),
			FrontendPort:            new(frontendPort),
			BackendPort:             new(backendPort),
			FrontendIPConfiguration: toSubResource(b.frontends[0]),
			BackendAddressPool:      toSubResource(b.pool),
			Probe:                   toSubResource(plan.ProbeID(b.id, plan.APIServerProbe)),
			DisableOutboundSnat:     new(true),
			EnableFloatingIP:        new(false),
			IdleTimeoutInMinutes:    b.spec.IdleTimeoutInMinutes,
			LoadDistribution:        new(armnetwork.LoadDistributionDefault),
		},
	})
}

// addOutboundRule gives the machines of the pool outbound connections through all frontends.
func (b *loadBalancerBuilder) addOutboundRule() {
	if len(b.frontends) == 0 {
		return
	}
	frontends := []*armnetwork.SubResource{}
	for _, id := range b.frontends {
		frontends = append(frontends, toSubResource(id))
	}
	b.properties.OutboundRules = append(b.properties.OutboundRules, &armnetwork.OutboundRule{
		Name: new(plan.OutboundRule),
		Properties: &armnetwork.OutboundRulePropertiesFormat{
			Protocol:                 new(armnetwork.LoadBalancerOutboundRuleProtocolAll),
			BackendAddressPool:       toSubResource(b.pool),
			FrontendIPConfigurations: frontends,
			IdleTimeoutInMinutes:     b.spec.IdleTimeoutInMinutes,
		},
	})
}

// addToGraph adds the load balancer. Other programs' rules and pools in it stay. Frontends and outbound rules of an
// earlier spec are removed, as when spec.frontendIPsCount shrinks or an additional port is removed.
func (b *loadBalancerBuilder) addToGraph(g *arm.Graph, role string) {
	g.Add(arm.Node{
		ID: b.id,
		Body: armnetwork.LoadBalancer{
			Location:         new(plan.Location(b.in)),
			ExtendedLocation: plan.ToExtendedLocation(b.in.AzureCluster.Spec.ExtendedLocation),
			SKU:              &armnetwork.LoadBalancerSKU{Name: new(armnetwork.LoadBalancerSKUNameStandard)},
			Tags:             plan.BuildTags(b.in, role, "", b.in.AzureCluster.Spec.AdditionalTags),
			Properties:       b.properties,
		},
		After:  b.dependencies,
		Policy: arm.Repair,
		OwnedPaths: []string{
			"properties.frontendIPConfigurations[" + b.id.Name() + "-frontEnd*]",
			"properties.outboundRules[" + plan.OutboundRule + "]",
		},
		Group: infrav1.LoadBalancersReadyCondition,
	})
}

func toSubResource(id arm.ID) *armnetwork.SubResource {
	return &armnetwork.SubResource{ID: plan.ToIDPointer(id)}
}
