package containerservice

import (
	"net/netip"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// checkAccess checks who may reach the API server, and how.
func checkAccess(c *provider.Call, d *provider.Draft) error {
	n, access := d.New, "properties.apiServerAccessProfile."
	for _, r := range body.Strings(n, access+"authorizedIPRanges") {
		_, err := netip.ParsePrefix(r)
		if _, single := netip.ParseAddr(r); err != nil && single != nil {
			return invalidParameter("apiServerAccessProfile.authorizedIPRanges", "'%s' is not a valid IP address or CIDR", r)
		}
	}
	private, zone := body.Bool(n, access+"enablePrivateCluster"), body.String(n, access+"privateDNSZone")
	public := body.Get(n, access+"enablePrivateClusterPublicFQDN")
	switch {
	case private && len(body.Strings(n, access+"authorizedIPRanges")) > 0:
		return badRequest("Authorized IP ranges are not supported on private cluster %s.", d.Name)
	case !private && zone != "":
		return invalidParameter("apiServerAccessProfile.privateDNSZone", "privateDNSZone can only be set on a private cluster")
	case private && strings.EqualFold(zone, "none") && public == false:
		return invalidParameter("apiServerAccessProfile.enablePrivateClusterPublicFQDN",
			"The public FQDN cannot be disabled when privateDNSZone is none")
	case body.Bool(n, access+"enableVnetIntegration") && body.String(n, access+"subnetId") != "" &&
		c.FindItem(body.String(n, access+"subnetId")) == nil:
		return subnetNotFound(body.String(n, access+"subnetId"))
	}
	if !private || zone == "" || strings.EqualFold(zone, "system") || strings.EqualFold(zone, "none") {
		if sub := body.String(n, "properties.fqdnSubdomain"); sub != "" {
			return invalidParameter("fqdnSubdomain", "fqdnSubdomain can only be used with a private DNS zone of your own")
		}
		return nil
	}
	if c.FindItem(zone) == nil {
		return newRefusal(404, "CustomPrivateDNSZoneNotFound", "The private DNS zone '%s' was not found.", zone)
	}
	if !strings.EqualFold(body.String(n, "identity.type"), "UserAssigned") {
		return badRequest("A custom private DNS zone requires a cluster with a user assigned identity or a service principal, managed cluster %s has identity %s.", d.Name, body.String(n, "identity.type"))
	}
	if !hasRole(c, n, zone, roleZoneContributor) {
		return newRefusal(400, "CustomPrivateDNSZoneMissingPermissionError",
			"Service principal or user assigned identity must be given permission to read and write to custom private dns zone %s. Check access result not allowed for action Microsoft.Network/privateDnsZones/read.", zone)
	}
	return nil
}

// checkCombinations refuses network settings that exclude each other, and changes of the network that AKS does not
// support. Cilium's dataplane works with all three ways to assign addresses to pods: overlay, a subnet for pods, and
// the subnet of the nodes.
//
// Source: https://learn.microsoft.com/azure/aks/azure-cni-powered-by-cilium; for the subnet of the nodes also the
// announcement "Azure CNI Powered by Cilium with Node Subnet" of April 2025, by which --network-dataplane cilium
// alone selects it.
func checkCombinations(d *provider.Draft) error {
	np := "properties.networkProfile."
	get := func(k string) string { return body.String(d.New, np+k) }
	plugin, overlay, policy, plane := get("networkPlugin"), get("networkPluginMode") == "overlay", get("networkPolicy"),
		get("networkDataplane")
	switch {
	case overlay && plugin != "azure":
		return invalidParameter("networkProfile.networkPluginMode", "Network plugin mode overlay requires network plugin azure, not %s", plugin)
	case plane == "cilium" && plugin != "azure":
		return invalidParameter("networkProfile.networkDataplane", "Network dataplane cilium requires network plugin azure, not %s", plugin)
	case policy == "cilium" && plane != "cilium":
		return invalidParameter("networkProfile.networkPolicy", "Network policy cilium requires network dataplane cilium")
	case plane == "cilium" && policy != "cilium" && policy != "none":
		return invalidParameter("networkProfile.networkPolicy", "Network dataplane cilium requires network policy cilium or none, not %s", policy)
	case policy == "azure" && plugin == "kubenet":
		return invalidParameter("networkProfile.networkPolicy", "Network policy azure is not supported with network plugin kubenet")
	}
	if d.Old != nil {
		from, to := body.String(d.Old, np+"networkPlugin"), plugin
		upgrade := from == "kubenet" && to == "azure" && overlay
		if from == to && body.String(d.Old, np+"networkPluginMode") == get("networkPluginMode") {
			if err := keepFixed(d.Old, d.New, np+"podCidr"); err != nil {
				return err
			}
		}
		if was := body.String(d.Old, "properties.apiServerAccessProfile.subnetId"); was != "" {
			if err := keepFixed(d.Old, d.New, "properties.apiServerAccessProfile.subnetId"); err != nil {
				return err
			}
		}
		if from != to && !upgrade {
			return newRefusal(400, "PropertyChangeNotAllowed",
				"Changing property 'properties.networkProfile.networkPlugin' is not allowed.").WithTarget("properties.networkProfile.networkPlugin")
		}
		if body.String(d.Old, np+"networkPluginMode") == "overlay" && !overlay {
			return newRefusal(400, "PropertyChangeNotAllowed",
				"Changing property 'properties.networkProfile.networkPluginMode' is not allowed.").WithTarget("properties.networkProfile.networkPluginMode")
		}
		if body.String(d.Old, np+"networkDataplane") == "cilium" && plane != "cilium" {
			return newRefusal(400, "PropertyChangeNotAllowed",
				"Changing property 'properties.networkProfile.networkDataplane' is not allowed.").WithTarget("properties.networkProfile.networkDataplane")
		}
	}
	return checkOutbound(d)
}

func checkOutbound(d *provider.Draft) error {
	lb := "properties.networkProfile.loadBalancerProfile."
	ports, idle, count := body.Int(d.New, lb+"allocatedOutboundPorts"), body.Get(d.New, lb+"idleTimeoutInMinutes"),
		body.Get(d.New, lb+"managedOutboundIPs.count")
	switch {
	case ports < 0 || ports > 64000 || ports%8 != 0:
		return invalidParameter("networkProfile.loadBalancerProfile.allocatedOutboundPorts",
			"allocatedOutboundPorts %d must be a multiple of 8 between 0 and 64000", ports)
	case idle != nil && (body.Int(d.New, lb+"idleTimeoutInMinutes") < 4 || body.Int(d.New, lb+"idleTimeoutInMinutes") > 120):
		return invalidParameter("networkProfile.loadBalancerProfile.idleTimeoutInMinutes", "idleTimeoutInMinutes must be between 4 and 120")
	case count != nil && (body.Int(d.New, lb+"managedOutboundIPs.count") < 1 || body.Int(d.New, lb+"managedOutboundIPs.count") > 100):
		return invalidParameter("networkProfile.loadBalancerProfile.managedOutboundIPs.count", "count must be between 1 and 100")
	}
	nat := "properties.networkProfile.natGatewayProfile."
	if n := body.Get(d.New, nat+"managedOutboundIPProfile.count"); n != nil &&
		(body.Int(d.New, nat+"managedOutboundIPProfile.count") < 1 || body.Int(d.New, nat+"managedOutboundIPProfile.count") > 16) {
		return invalidParameter("networkProfile.natGatewayProfile.managedOutboundIPProfile.count", "count must be between 1 and 16")
	}
	return nil
}

func subnetNotFound(id string) error {
	return newRefusal(404, "SubnetNotFound", "The subnet '%s' was not found. Please make sure that the virtual network and its subnet exist.",
		id)
}

// validateNetwork checks a cluster's network against its subnets.
func validateNetwork(c *provider.Call, d *provider.Draft, pools []*poolDraft) error {
	if err := checkCombinations(d); err != nil {
		return err
	}
	np := "properties.networkProfile."
	service, err := netip.ParsePrefix(body.String(d.New, np+"serviceCidr"))
	if err != nil {
		return invalidParameter("networkProfile.serviceCidr", "'%s' is not a valid CIDR", body.String(d.New, np+"serviceCidr"))
	}
	dns, err := netip.ParseAddr(body.String(d.New, np+"dnsServiceIP"))
	if err != nil || !service.Contains(dns) {
		return invalidParameter("networkProfile.dnsServiceIP", "'%s' is not an address of the service CIDR %s",
			body.String(d.New, np+"dnsServiceIP"), service)
	}
	if dns == service.Masked().Addr() || dns == service.Masked().Addr().Next() {
		return invalidParameter("networkProfile.dnsServiceIP", "'%s' must not be the first address of the service CIDR %s", dns, service)
	}
	pod, podErr := netip.ParsePrefix(body.String(d.New, np+"podCidr"))
	if body.String(d.New, np+"podCidr") != "" && podErr != nil {
		return invalidParameter("networkProfile.podCidr", "'%s' is not a valid CIDR", body.String(d.New, np+"podCidr"))
	}
	if podErr == nil && pod.Overlaps(service) {
		return invalidParameter("networkProfile.podCidr", "The pod CIDR %s overlaps with the service CIDR %s", pod, service)
	}
	for _, kind := range []string{"outboundIPs.publicIPs", "outboundIPPrefixes.publicIPPrefixes"} {
		for _, ref := range body.Objects(d.New, np+"loadBalancerProfile."+kind) {
			if c.FindItem(body.String(ref, "id")) == nil {
				return newRefusal(404, "NotFound", "Resource %s of loadBalancerProfile.%s was not found.", body.String(ref, "id"), kind)
			}
		}
	}
	for _, p := range pools {
		if err := p.checkSubnet(c, service); err != nil {
			return err
		}
	}
	return nil
}

// checkSubnet checks the subnet a pool brings along: that it exists, fits the cluster, and has room.
func (p *poolDraft) checkSubnet(c *provider.Call, service netip.Prefix) error {
	id := body.String(p.body, "properties.vnetSubnetID")
	np := "properties.networkProfile."
	outbound := body.String(p.cluster, np+"outboundType")
	if id == "" {
		if p.old == nil && (outbound == "userAssignedNATGateway" || outbound == "userDefinedRouting") {
			return badRequest("Outbound type %s requires a virtual network of your own: set vnetSubnetID of agent pool %s.", outbound, p.name)
		}
		return nil
	}
	if parsed, err := store.ParseID(id); err != nil || !strings.EqualFold(parsed.Type(), network.Subnets) || len(parsed.Names) != 2 {
		return invalidParameter("agentPoolProfile.vnetSubnetID", "'%s' is not the ID of a subnet", id)
	}
	subnet := c.FindItem(id)
	if subnet == nil {
		return subnetNotFound(id)
	}
	if subnet.Location != "" && subnet.Location != p.location {
		return invalidParameter("agentPoolProfile.vnetSubnetID", "The subnet is in location %s, the cluster in %s", subnet.Location, p.location)
	}
	if pod := body.String(p.body, "properties.podSubnetID"); pod != "" && c.FindItem(pod) == nil {
		return subnetNotFound(pod)
	}
	nets := subnetPrefixes(subnet)
	for _, n := range nets {
		if service.IsValid() && n.Overlaps(service) {
			return newRefusal(400, "ServiceCidrOverlapExistingSubnetsCidr",
				"The specified service CIDR %s is conflicted with an existing subnet CIDR %s", service, n)
		}
	}
	switch outbound {
	case "userAssignedNATGateway":
		if body.String(subnet.Body, "properties.natGateway.id") == "" {
			return badRequest("Outbound type userAssignedNATGateway requires a NAT gateway, none is associated with subnet %s.", id)
		}
	case "userDefinedRouting":
		if !defaultRoute(c, subnet) {
			return newRefusal(400, "ExistingRouteTableNotAssociatedWithSubnet",
				"An existing route table with a default route has not been associated with subnet %s. Please update the route table association.", id)
		}
	}
	return p.checkRoom(c, subnet, nets)
}

func subnetPrefixes(subnet *provider.Item) []netip.Prefix {
	raw := body.Strings(subnet.Body, "properties.addressPrefixes")
	if s := body.String(subnet.Body, "properties.addressPrefix"); s != "" && len(raw) == 0 {
		raw = []string{s}
	}
	var out []netip.Prefix
	for _, s := range raw {
		if n, err := netip.ParsePrefix(s); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func defaultRoute(c *provider.Call, subnet *provider.Item) bool {
	table := c.Get(body.String(subnet.Body, "properties.routeTable.id"))
	if table == nil {
		return false
	}
	for _, r := range body.Objects(table.Body, "properties.routes") {
		if body.String(r, "properties.addressPrefix") == "0.0.0.0/0" {
			return true
		}
	}
	return false
}

// checkRoom refuses nodes that the subnet has no addresses for. With the Azure CNI every pod takes one, too.
// Source: https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/insufficientsubnetsize-error-advanced-networking
func (p *poolDraft) checkRoom(c *provider.Call, subnet *provider.Item, nets []netip.Prefix) error {
	nodes, size := p.maxNodes()-p.oldNodes(), 0
	if nodes <= 0 || len(nets) == 0 {
		return nil
	}
	for _, n := range nets {
		if n.Addr().Is4() {
			size += 1<<min(24, 32-n.Bits()) - 5
		}
	}
	np := "properties.networkProfile."
	perNode := 1
	if body.String(p.cluster, np+"networkPlugin") == "azure" && body.String(p.cluster, np+"networkPluginMode") != "overlay" &&
		body.String(p.body, "properties.podSubnetID") == "" {
		perNode += body.Int(p.body, "properties.maxPods")
	}
	used := 0
	for _, ref := range c.Referrers(subnet.ID) {
		if r := c.Get(ref.From); ref.Field == "subnet" && r != nil && !strings.EqualFold(r.Type, "Microsoft.Compute/virtualMachineScaleSets") {
			used++
		}
	}
	for _, other := range c.List(AgentPools, "") {
		if !store.SameID(other.ID, p.id) && store.SameID(body.String(other.Body, "properties.vnetSubnetID"), subnet.ID) {
			used += body.Int(other.Body, "properties.count") * (perNode - 1)
		}
	}
	if need := nodes * perNode; used+need > size {
		name := subnet.Name
		return newRefusal(400, "InsufficientSubnetSize",
			"Pre-allocated IPs %s exceeds IPs available %s in Subnet Cidr %s, Subnet Name %s. If Autoscaler is enabled, Pre-allocated IPs = Maximum nodes * (maximum pods + 1). http://aka.ms/aks/insufficientsubnetsize",
			strconv.Itoa(need), strconv.Itoa(max(0, size-used)), nets[0], name).WithTarget("agentPoolProfile.vnetSubnetID")
	}
	return nil
}

// Roles that AKS checks its identities for, or that include them.
var (
	roleIdentityOperator = []string{"f1a07417-d97a-45cb-824c-7a7467783830", "b24988ac-6180-42a0-ab88-20f7382dd24c",
		"8e3af657-a8ff-443c-a75c-2fe8c4bcb635"} // Managed Identity Operator, Contributor, Owner
	roleZoneContributor = []string{"b12aa53e-6015-4669-85d0-8515ebb3ae7f", "b24988ac-6180-42a0-ab88-20f7382dd24c",
		"8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
		"4d97b98b-1d4f-4787-a291-c67834d212e7"} // Private DNS Zone Contributor, Contributor, Owner, Network Contributor
)

// hasRole reports whether the cluster's user-assigned identity has one of the roles on a resource or above it.
func hasRole(c *provider.Call, cluster body.Object, resourceID string, roles []string) bool {
	var principals []string
	for id := range body.Child(cluster, "identity.userAssignedIdentities") {
		if it := c.FindItem(id); it != nil {
			principals = append(principals, body.String(it.Body, "properties.principalId"))
		}
	}
	return c.HoldsRole(principals, resourceID, roles)
}
