package machine

import (
	"fmt"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// sshPort is the machine's port for SSH.
const sshPort = 22

// natIdleTimeout is the time in minutes after which the load balancer drops an idle SSH connection.
const natIdleTimeout = 4

// addPublicIP adds the public address of a machine with spec.allocatePublicIP.
func addPublicIP(in plan.MachineInput, g *arm.Graph) {
	if !in.AzureMachine.Spec.AllocatePublicIP {
		return
	}
	id := plan.NodePublicIPID(in)
	additional := plan.MergeTags(in.AzureCluster.Spec.AdditionalTags, in.AzureMachine.Spec.AdditionalTags)
	var zones []*string
	if len(in.Facts.Zones) > 0 && in.AzureCluster.Spec.ExtendedLocation == nil {
		zones = plan.ToPointers(slices.Sorted(slices.Values(in.Facts.Zones)))
	}
	g.Add(arm.Node{
		ID: id,
		Body: armnetwork.PublicIPAddress{
			Location:         new(plan.Location(in.ClusterInput)),
			ExtendedLocation: plan.ToExtendedLocation(in.AzureCluster.Spec.ExtendedLocation),
			SKU:              &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
			Zones:            zones,
			Tags:             plan.BuildTags(in.ClusterInput, "", id.Name(), additional),
			Properties: &armnetwork.PublicIPAddressPropertiesFormat{
				PublicIPAddressVersion:   new(armnetwork.IPVersionIPv4),
				PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic),
			},
		},
		Policy: arm.CreateOnly,
		Group:  infrav1.PublicIPsReadyCondition,
	})
}

// hasNATRule returns true for control-plane machines behind a public API server load balancer, through which SSH reaches
// them.
func hasNATRule(in plan.MachineInput) bool {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	_, ok := plan.NATRuleID(in)
	return in.ControlPlane && ok && lb.Type != infrav1.Internal
}

// addNATRule adds the rule for SSH to a control-plane machine.
func addNATRule(in plan.MachineInput, g *arm.Graph) {
	if !hasNATRule(in) {
		return
	}
	id, _ := plan.NATRuleID(in)
	node := arm.Node{ID: id, Policy: arm.Repair, Group: infrav1.InboundNATRulesReadyCondition}
	if in.MachineFacts.SSHNATPort == 0 {
		node.Blocked = "all front-end ports for SSH (22 and 2201 to 2219) of the load balancer are in use: remove inbound NAT rules that are not needed"
		g.Add(node)
		return
	}
	node.Body = armnetwork.InboundNatRule{
		Properties: &armnetwork.InboundNatRulePropertiesFormat{
			Protocol:                new(armnetwork.TransportProtocolTCP),
			FrontendPort:            new(in.MachineFacts.SSHNATPort),
			BackendPort:             new(int32(sshPort)),
			EnableFloatingIP:        new(false),
			IdleTimeoutInMinutes:    new(int32(natIdleTimeout)),
			FrontendIPConfiguration: &armnetwork.SubResource{ID: plan.ToIDPointer(firstPublicFrontend(in))},
		},
	}
	g.Add(node)
}

// firstPublicFrontend returns the first public frontend of the API server's load balancer.
func firstPublicFrontend(in plan.MachineInput) arm.ID {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	id := plan.LoadBalancerID(in.ClusterInput, lb.Name)
	for _, frontend := range lb.FrontendIPs {
		if frontend.PublicIP != nil {
			return plan.FrontendID(id, frontend.Name)
		}
	}
	return plan.FrontendID(id, lb.Name+"-frontEnd")
}

// addNetworkInterfaces adds the interfaces. Only the first one has backend pools, the NAT rule, DNS servers and the public
// address.
func addNetworkInterfaces(in plan.MachineInput, p vm.Profile, g *arm.Graph) error {
	interfaces := vm.ListInterfaces(p.VirtualMachineProfile)
	for i, spec := range interfaces {
		name := plan.NICName(in, i, len(interfaces))
		node := arm.Node{ID: plan.NICID(in, name), Policy: arm.Repair, Group: infrav1.NetworkInterfacesReadyCondition}
		subnet, err := vm.FindSubnet(p.Network, spec)
		if err != nil && p.Exists {
			// The interface stays in its subnet, and the spec of the machine cannot be changed. Another subnet of the role is for other machines.
			node.KeptPaths = []string{"properties", "tags"}
			g.Add(node)
			continue
		}
		if err != nil {
			return err
		}
		primary := &armnetwork.InterfaceIPConfigurationPropertiesFormat{
			Primary:                         new(true),
			PrivateIPAllocationMethod:       new(armnetwork.IPAllocationMethodDynamic),
			PrivateIPAddressVersion:         new(armnetwork.IPVersionIPv4),
			Subnet:                          toSubnetReference(p.Network, subnet),
			LoadBalancerBackendAddressPools: []*armnetwork.BackendAddressPool{},
			LoadBalancerInboundNatRules:     []*armnetwork.InboundNatRule{},
		}
		dns := &armnetwork.InterfaceDNSSettings{DNSServers: []*string{}}
		if i == 0 {
			dns.DNSServers = plan.ToPointers(in.AzureMachine.Spec.DNSServers)
			node.After = exposeInterface(in, p.Network, subnet, primary)
		}
		node.Body = armnetwork.Interface{
			Location:         new(plan.Location(in.ClusterInput)),
			ExtendedLocation: plan.ToExtendedLocation(in.AzureCluster.Spec.ExtendedLocation),
			Tags:             plan.BuildMachineTags(in, "", name),
			Properties: &armnetwork.InterfacePropertiesFormat{
				DNSSettings:                 dns,
				EnableAcceleratedNetworking: vm.UsesAcceleratedNetworking(p, spec),
				EnableIPForwarding:          new(in.AzureMachine.Spec.EnableIPForwarding),
				IPConfigurations:            buildIPConfigurations(p.Network, name, spec, subnet, primary),
			},
		}
		g.Add(node)
	}
	return nil
}

// buildIPConfigurations returns the primary configuration, as many others as the spec counts, and one for IPv6 in a subnet
// that has it.
func buildIPConfigurations(network vm.Network, name string, spec infrav1.NetworkInterface, subnet infrav1.SubnetSpec,
	primary *armnetwork.InterfaceIPConfigurationPropertiesFormat) []*armnetwork.InterfaceIPConfiguration {
	out := []*armnetwork.InterfaceIPConfiguration{{Name: new("pipConfig"), Properties: primary}}
	for i := 1; i < spec.PrivateIPConfigs; i++ {
		out = append(out, &armnetwork.InterfaceIPConfiguration{
			Name: new(fmt.Sprintf("%s-%d", name, i)),
			Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{
				Primary:                   new(false),
				PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic),
				PrivateIPAddressVersion:   new(armnetwork.IPVersionIPv4),
				Subnet:                    toSubnetReference(network, subnet),
			},
		})
	}
	if vm.HasIPv6(network, subnet) {
		out = append(out, &armnetwork.InterfaceIPConfiguration{
			Name: new("ipConfigv6"),
			Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{
				Primary:                   new(false),
				PrivateIPAllocationMethod: new(armnetwork.IPAllocationMethodDynamic),
				PrivateIPAddressVersion:   new(armnetwork.IPVersionIPv6),
				Subnet:                    toSubnetReference(network, subnet),
			},
		})
	}
	return out
}

// exposeInterface adds the pools, the NAT rule and the public address of the machine to the primary configuration. It
// returns the resources that have to exist before. Pools of other programs stay: cloud-provider-azure adds interfaces to
// the pools of Services.
func exposeInterface(in plan.MachineInput, network vm.Network, subnet infrav1.SubnetSpec,
	primary *armnetwork.InterfaceIPConfigurationPropertiesFormat) []arm.ID {
	var after []arm.ID
	for _, pool := range backendPools(in, network, subnet) {
		primary.LoadBalancerBackendAddressPools = append(primary.LoadBalancerBackendAddressPools,
			&armnetwork.BackendAddressPool{ID: plan.ToIDPointer(pool)})
	}
	if hasNATRule(in) {
		rule, _ := plan.NATRuleID(in)
		primary.LoadBalancerInboundNatRules = append(primary.LoadBalancerInboundNatRules, &armnetwork.InboundNatRule{ID: plan.ToIDPointer(rule)})
		after = append(after, rule)
	}
	// A migrated interface without the address stays without it: attaching it would expose a machine that was not reachable before.
	if in.AzureMachine.Spec.AllocatePublicIP && !in.MachineFacts.AddressDetached {
		address := plan.NodePublicIPID(in)
		primary.PublicIPAddress = &armnetwork.PublicIPAddress{ID: plan.ToIDPointer(address)}
		after = append(after, address)
	}
	return after
}

// backendPools returns the backend pools of the machine's first interface.
func backendPools(in plan.MachineInput, network vm.Network, subnet infrav1.SubnetSpec) []arm.ID {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	switch {
	case in.ControlPlane && lb == nil:
		return nil
	case in.ControlPlane:
		out := []arm.ID{plan.PoolID(plan.LoadBalancerID(in.ClusterInput, lb.Name), plan.APIServerPoolName(lb))}
		if lb.Type == infrav1.Internal {
			if outbound := in.AzureCluster.Spec.NetworkSpec.ControlPlaneOutboundLB; outbound != nil {
				out = append(out, plan.PoolID(plan.LoadBalancerID(in.ClusterInput, outbound.Name),
					plan.ControlPlaneOutboundPoolName(in.ClusterInput, outbound)))
			}
		} else if len(plan.InternalAPIServerFrontends(in.ClusterInput, in.MachineFacts.VNet)) > 0 {
			out = append(out, plan.PoolID(plan.LoadBalancerID(in.ClusterInput, plan.InternalAPIServerLBName(lb)),
				plan.InternalAPIServerPoolName(lb)))
		}
		return out
	case in.AzureMachine.Spec.AllocatePublicIP || vm.FindOutboundPool(network, subnet) == "":
		return nil
	default:
		return []arm.ID{vm.FindOutboundPool(network, subnet)}
	}
}

func toSubnetReference(network vm.Network, subnet infrav1.SubnetSpec) *armnetwork.Subnet {
	return &armnetwork.Subnet{ID: plan.ToIDPointer(vm.SubnetID(network, subnet))}
}
