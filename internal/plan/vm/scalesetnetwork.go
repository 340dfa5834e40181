package vm

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// buildScaleSetNetworkProfile returns the network interfaces of a scale set's VMs, which are no resources of their own.
// Only the first address of the first interface has a backend pool. The profile of an existing scale set has no interfaces if a subnet cannot
// be determined.
func buildScaleSetNetworkProfile(p Profile) (*armcompute.VirtualMachineScaleSetNetworkProfile, error) {
	profile := &armcompute.VirtualMachineScaleSetNetworkProfile{}
	for i, spec := range ListInterfaces(p.VirtualMachineProfile) {
		subnet, err := FindSubnet(p.Network, spec)
		if err != nil && p.Exists {
			return &armcompute.VirtualMachineScaleSetNetworkProfile{}, nil
		}
		if err != nil {
			return nil, err
		}
		configurations := buildScaleSetIPConfigurations(p.Network, spec, subnet)
		if pool := FindOutboundPool(p.Network, subnet); i == 0 && pool != "" {
			configurations[0].Properties.LoadBalancerBackendAddressPools = []*armcompute.SubResource{{ID: plan.ToIDPointer(pool)}}
		}
		profile.NetworkInterfaceConfigurations = append(profile.NetworkInterfaceConfigurations,
			&armcompute.VirtualMachineScaleSetNetworkConfiguration{
				Name: new(fmt.Sprintf("%s-nic-%d", p.Name, i)),
				Properties: &armcompute.VirtualMachineScaleSetNetworkConfigurationProperties{
					Primary:                     new(i == 0),
					EnableAcceleratedNetworking: UsesAcceleratedNetworking(p, spec),
					// Network plugins that use the VNet's addresses give pods addresses of their own.
					EnableIPForwarding: new(true),
					IPConfigurations:   configurations,
				},
			})
	}
	return profile, nil
}

// buildScaleSetIPConfigurations returns as many configurations for IPv4 as the spec counts, and one for IPv6 in a subnet
// that has it.
func buildScaleSetIPConfigurations(network Network, spec infrav1.NetworkInterface,
	subnet infrav1.SubnetSpec) []*armcompute.VirtualMachineScaleSetIPConfiguration {
	var out []*armcompute.VirtualMachineScaleSetIPConfiguration
	add := func(name string, version armcompute.IPVersion) {
		out = append(out, &armcompute.VirtualMachineScaleSetIPConfiguration{
			Name: new(name),
			Properties: &armcompute.VirtualMachineScaleSetIPConfigurationProperties{
				Primary:                         new(len(out) == 0),
				PrivateIPAddressVersion:         new(version),
				Subnet:                          toEntityReference(SubnetID(network, subnet)),
				LoadBalancerBackendAddressPools: []*armcompute.SubResource{},
			},
		})
	}
	for i := range max(spec.PrivateIPConfigs, 1) {
		add(fmt.Sprintf("ipConfig%d", i), armcompute.IPVersionIPv4)
	}
	if HasIPv6(network, subnet) {
		add("ipConfigv6", armcompute.IPVersionIPv6)
	}
	return out
}

func toEntityReference(id arm.ID) *armcompute.APIEntityReference {
	return &armcompute.APIEntityReference{ID: plan.ToIDPointer(id)}
}
