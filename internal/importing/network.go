package importing

import (
	"fmt"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// findNetwork finds the virtual network of the machines.
func (w *writer) findNetwork() error {
	var ids []string
	for _, subnet := range w.machineSubnets() {
		if id := string(arm.ID(subnet).Parent()); !slices.ContainsFunc(ids, func(known string) bool { return strings.EqualFold(known, id) }) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return fmt.Errorf("no machine of the cluster in resource group %s shows its subnet, so the network is unknown. Check that the right to read network interfaces is granted", w.estate.Group)
	}
	if len(ids) > 1 {
		return fmt.Errorf("the machines of cluster %s are in %d virtual networks (%s). An AzureCluster has one. Select the machines of one network with --tag", w.id.name, len(ids), joinNames(ids))
	}
	r, ok := w.estate.find(ids[0])
	if !ok {
		return fmt.Errorf("%s: the network of the machines cannot be read%s. Grant the right to read it", ids[0], w.unreadable(ids[0]))
	}
	var err error
	if w.network, err = decodeBody[networkBody](r); err != nil {
		return err
	}
	w.networkID = string(r.ID)
	spec := &w.azure.Spec
	spec.NetworkSpec.Vnet.Name, spec.NetworkSpec.Vnet.ResourceGroup = r.ID.Name(), r.ID.ResourceGroup()
	spec.NetworkSpec.Vnet.CIDRBlocks = w.network.Properties.AddressSpace.AddressPrefixes
	spec.Location = plan.NormalizeRegion(w.network.Location)
	if e := w.network.ExtendedLocation; e != nil && e.Name != "" {
		spec.ExtendedLocation = &infrav1.ExtendedLocationSpec{Name: e.Name, Type: e.Type}
	}
	return nil
}

// unreadable returns the reason why a resource could not be read, for a message.
func (w *writer) unreadable(id string) string {
	for known, why := range w.estate.Unreadable {
		if strings.EqualFold(string(known), id) {
			return " (" + why + ")"
		}
	}
	return ""
}

// ownsNetwork reports whether the virtual network was created for the cluster.
func (w *writer) ownsNetwork() bool { return w.id.owns(w.network.head) }

// machineSubnets returns the subnets of all machines and pools.
func (w *writer) machineSubnets() []string {
	var out []string
	for _, m := range w.machines {
		out = append(out, m.subnets...)
	}
	for _, p := range w.pools {
		out = append(out, p.subnets...)
	}
	return out
}

// subnetUse is who uses a subnet.
type subnetUse struct{ controlPlane, node bool }

// writeSubnets writes the subnets with their security groups, route tables and NAT gateways.
func (w *writer) writeSubnets() error {
	uses := map[string]subnetUse{}
	for _, m := range w.machines {
		for _, id := range m.subnets {
			use := uses[strings.ToLower(id)]
			use.controlPlane, use.node = use.controlPlane || m.controlPlane, use.node || !m.controlPlane
			uses[strings.ToLower(id)] = use
		}
	}
	for _, p := range w.pools {
		for _, id := range p.subnets {
			use := uses[strings.ToLower(id)]
			use.node = true
			uses[strings.ToLower(id)] = use
		}
	}
	for _, subnet := range w.network.Properties.Subnets {
		if subnet.Name == plan.BastionSubnet {
			continue
		}
		role, used := w.roleOf(subnet, uses[strings.ToLower(subnet.ID)])
		if !used {
			w.explain(arm.ID(subnet.ID), "", "no machine of the cluster is in this subnet, so it is not in the manifests and stays as it is")
			continue
		}
		spec, err := w.subnetSpec(subnet, role)
		if err != nil {
			return err
		}
		w.azure.Spec.NetworkSpec.Subnets = append(w.azure.Spec.NetworkSpec.Subnets, spec)
	}
	return nil
}

// roleOf returns the role of a subnet by its machines, or else by its security group and name. ok is false for a subnet of others.
func (w *writer) roleOf(subnet subnetBody, use subnetUse) (role infrav1.SubnetRole, ok bool) {
	switch {
	case use.controlPlane && use.node:
		return infrav1.SubnetCluster, true
	case use.controlPlane && !w.azure.Spec.ControlPlaneEnabled:
		// Without a load balancer of the cluster its machines name their subnet, and the role control-plane is not allowed.
		return infrav1.SubnetNode, true
	case use.controlPlane:
		return infrav1.SubnetControlPlane, true
	case use.node:
		return infrav1.SubnetNode, true
	case w.ownsNetwork() && strings.Contains(subnet.Name, "control"):
		return infrav1.SubnetControlPlane, w.azure.Spec.ControlPlaneEnabled
	case w.ownsNetwork() && subnet.Properties.NetworkSecurityGroup != nil:
		return infrav1.SubnetNode, true
	}
	return "", false
}

// subnetSpec returns the spec of a subnet.
func (w *writer) subnetSpec(subnet subnetBody, role infrav1.SubnetRole) (infrav1.SubnetSpec, error) {
	out := infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: subnet.Name, Role: role, CIDRBlocks: subnet.blocks()}}
	for _, endpoint := range subnet.Properties.ServiceEndpoints {
		out.ServiceEndpoints = append(out.ServiceEndpoints, infrav1.ServiceEndpointSpec{Service: endpoint.Service, Locations: endpoint.Locations})
	}
	if group := subnet.Properties.NetworkSecurityGroup; group != nil {
		out.SecurityGroup.Name = arm.ID(group.ID).Name()
		if r, ok := w.estate.find(group.ID); ok && w.ownsNetwork() {
			rules, err := w.securityRules(r)
			if err != nil {
				return out, err
			}
			out.SecurityGroup.SecurityRules = rules
		}
	}
	if table := subnet.Properties.RouteTable; table != nil {
		out.RouteTable.Name = arm.ID(table.ID).Name()
	}
	// An ID asks for no NAT gateway, where the default would add one.
	if role != infrav1.SubnetControlPlane {
		out.ID = subnet.ID
	}
	if gateway := subnet.Properties.NatGateway; gateway != nil && w.ownsNetwork() {
		out.ID = ""
		out.NatGateway.Name = arm.ID(gateway.ID).Name()
		r, ok := w.estate.find(gateway.ID)
		if !ok {
			return out, nil
		}
		body, err := decodeBody[natGatewayBody](r)
		if err != nil {
			return out, err
		}
		out.NatGateway.Zones = body.Zones
		if addresses := body.Properties.PublicIPAddresses; len(addresses) > 0 {
			if out.NatGateway.NatGatewayIP, err = w.publicIPSpec(addresses[0].ID, false); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// publicIPSpec returns the spec of a public IP address. The DNS name is part of it for the API server alone.
func (w *writer) publicIPSpec(id string, withDNS bool) (infrav1.PublicIPSpec, error) {
	out := infrav1.PublicIPSpec{Name: arm.ID(id).Name()}
	r, ok := w.estate.find(id)
	if !ok {
		return out, nil
	}
	body, err := decodeBody[publicIPBody](r)
	if err != nil {
		return out, err
	}
	if dns := body.Properties.DNSSettings; dns != nil && withDNS {
		out.DNSName = dns.FQDN
	}
	for _, tag := range body.Properties.IPTags {
		out.IPTags = append(out.IPTags, infrav1.IPTag{Type: tag.IPTagType, Tag: tag.Tag})
	}
	return out, nil
}

// writePeerings writes the peerings of the network that have the names of the provider.
func (w *writer) writePeerings() error {
	local := arm.ID(w.networkID)
	for _, forward := range w.network.Properties.VirtualNetworkPeerings {
		remote := arm.ID(forward.Properties.RemoteVirtualNetwork.ID)
		path := fmt.Sprintf("properties.virtualNetworkPeerings[%s]", forward.Name)
		if !w.ownsNetwork() || forward.Name != plan.PeeringID(local, remote).Name() || remote.Subscription() != w.estate.Subscription {
			w.explain(local, path, "only peerings of the cluster's own network that are named <network>-To-<remote network>, within one subscription, are in the manifests. It stays as it is")
			continue
		}
		r, ok := w.estate.find(string(remote))
		if !ok {
			w.explain(local, path, "the remote network cannot be read"+w.unreadable(string(remote)))
			continue
		}
		body, err := decodeBody[networkBody](r)
		if err != nil {
			return err
		}
		name := plan.PeeringID(remote, local).Name()
		i := slices.IndexFunc(body.Properties.VirtualNetworkPeerings, func(p peeringBody) bool { return p.Name == name })
		if i < 0 {
			w.explain(local, path, fmt.Sprintf("the remote network has no peering %s, which a peering of the manifests also has. It stays as it is", name))
			continue
		}
		w.azure.Spec.NetworkSpec.Vnet.Peerings = append(w.azure.Spec.NetworkSpec.Vnet.Peerings, infrav1.VnetPeeringSpec{
			VnetPeeringClassSpec: infrav1.VnetPeeringClassSpec{
				ResourceGroup: remote.ResourceGroup(), RemoteVnetName: remote.Name(),
				ForwardPeeringProperties: peeringProperties(forward),
				ReversePeeringProperties: peeringProperties(body.Properties.VirtualNetworkPeerings[i]),
			}})
	}
	return nil
}

func peeringProperties(p peeringBody) infrav1.VnetPeeringProperties {
	of := p.Properties
	return infrav1.VnetPeeringProperties{AllowForwardedTraffic: of.AllowForwardedTraffic, AllowGatewayTransit: of.AllowGatewayTransit,
		AllowVirtualNetworkAccess: of.AllowVirtualNetworkAccess, UseRemoteGateways: of.UseRemoteGateways}
}

// writeBastion writes the bastion host of the cluster.
func (w *writer) writeBastion() error {
	for _, r := range w.estate.list(types.BastionHost) {
		body, err := decodeBody[bastionBody](r)
		if err != nil {
			return err
		}
		configurations := body.Properties.IPConfigurations
		if !w.id.owns(body.head) || len(configurations) == 0 || configurations[0].Properties.Subnet == nil ||
			configurations[0].Properties.PublicIPAddress == nil || w.azure.Spec.BastionSpec.AzureBastion != nil {
			continue
		}
		out := &infrav1.AzureBastion{Name: r.ID.Name(), Sku: infrav1.BastionHostSkuName(body.SKU.Name), EnableTunneling: body.Properties.EnableTunneling}
		if out.PublicIP, err = w.publicIPSpec(configurations[0].Properties.PublicIPAddress.ID, false); err != nil {
			return err
		}
		id := configurations[0].Properties.Subnet.ID
		for _, subnet := range w.network.Properties.Subnets {
			if strings.EqualFold(subnet.ID, id) {
				if out.Subnet, err = w.subnetSpec(subnet, infrav1.SubnetBastion); err != nil {
					return err
				}
				out.Subnet.ID = ""
			}
		}
		w.azure.Spec.BastionSpec.AzureBastion = out
	}
	return nil
}

// writePrivateEndpoints writes the private endpoints in the cluster's subnets.
func (w *writer) writePrivateEndpoints() error {
	for _, r := range w.estate.list(types.PrivateEndpoint) {
		body, err := decodeBody[privateEndpointBody](r)
		if err != nil {
			return err
		}
		name := arm.ID(body.Properties.Subnet.ID).Name()
		subnets := w.azure.Spec.NetworkSpec.Subnets
		at := slices.IndexFunc(subnets, func(s infrav1.SubnetSpec) bool { return strings.EqualFold(s.Name, name) })
		if !w.id.owns(body.head) || at < 0 || !strings.EqualFold(string(arm.ID(body.Properties.Subnet.ID).Parent()), w.networkID) {
			continue
		}
		out := infrav1.PrivateEndpointSpec{Name: r.ID.Name(), CustomNetworkInterfaceName: body.Properties.CustomNetworkInterfaceName}
		if location := plan.NormalizeRegion(body.Location); location != w.azure.Spec.Location {
			out.Location = location
		}
		for _, group := range body.Properties.ApplicationSecurityGroups {
			out.ApplicationSecurityGroups = append(out.ApplicationSecurityGroups, group.ID)
		}
		for _, ip := range body.Properties.IPConfigurations {
			if ip.Properties.PrivateIPAddress != "" {
				out.PrivateIPAddresses = append(out.PrivateIPAddresses, ip.Properties.PrivateIPAddress)
			}
		}
		connections := body.Properties.PrivateLinkServiceConnections
		if len(connections) == 0 {
			connections, out.ManualApproval = body.Properties.ManualPrivateLinkServiceConnections, true
		}
		for _, c := range connections {
			out.PrivateLinkServiceConnections = append(out.PrivateLinkServiceConnections, infrav1.PrivateLinkServiceConnection{
				Name: c.Name, PrivateLinkServiceID: c.Properties.PrivateLinkServiceID, GroupIDs: c.Properties.GroupIDs,
				RequestMessage: c.Properties.RequestMessage})
		}
		subnets[at].PrivateEndpoints = append(subnets[at].PrivateEndpoints, out)
	}
	return nil
}
