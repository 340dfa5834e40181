package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// CheckSpec returns the errors of the spec that can be found with the facts. Each message contains the field, its value,
// the fault and the remedy. If there are errors, nothing may be planned.
func CheckSpec(in plan.ClusterInput) field.ErrorList {
	network := field.NewPath("spec", "networkSpec")
	errs := checkVNet(in, network.Child("vnet"))
	errs = append(errs, checkIDs(in)...)
	errs = append(errs, checkSubnets(in)...)
	errs = append(errs, checkLoadBalancers(in, network)...)
	errs = append(errs, checkZones(in, network)...)
	errs = append(errs, checkSecurityRules(in)...)
	errs = append(errs, checkPeerings(in, network.Child("vnet", "peerings"))...)
	errs = append(errs, checkPrivateEndpoints(in)...)
	errs = append(errs, checkDNSNames(in)...)
	return append(errs, checkTags(in)...)
}

// checkTags counts the tags of a resource with all tags of the cluster, and those of the security groups. A network of the cluster has a
// role and a name; other resources have one of them at least.
func checkTags(in plan.ClusterInput) field.ErrorList {
	role, additional := infrav1.RoleCommon, in.AzureCluster.Spec.AdditionalTags
	if plan.IsBYONetwork(in, in.Facts.VNet) {
		role = ""
	}
	errs := plan.CheckTagCount(plan.BuildTags(in, role, "name", additional), "resources of the cluster",
		field.NewPath("spec", "additionalTags"))
	if len(errs) > 0 {
		return errs
	}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		group := subnet.SecurityGroup
		tags := plan.BuildTags(in, "", group.Name, plan.MergeTags(additional, group.Tags))
		errs = append(errs, plan.CheckTagCount(tags, "security group "+group.Name, path.Child("securityGroup", "tags"))...)
	})
	return errs
}

// checkVNet refuses a network of another region. It also refuses a missing network that the spec describes as existing by an ID, because
// the user did not ask to create it. A spec that a controller wrote back has the ID and the ownership tag of the cluster's own network:
// that one is created again.
func checkVNet(in plan.ClusterInput, path *field.Path) field.ErrorList {
	if have, want := in.Facts.VNet, plan.Location(in); have.IsInOtherRegion(want) {
		return field.ErrorList{field.Invalid(path, plan.VNetName(in),
			fmt.Sprintf("is in region %s, and spec.location is %s: a cluster has to be in the region of its network; "+
				"choose a network in %s, or set spec.location to %s", have.Location, want, want, have.Location))}
	}
	if in.Facts.VNet.Exists {
		return nil
	}
	vnet := in.AzureCluster.Spec.NetworkSpec.Vnet
	if key, value := plan.OwnerTag(in); vnet.Tags[key] == value {
		return nil
	}
	message := fmt.Sprintf("does not exist in resource group %q: create it, correct the name or group, or remove %%s to have it created",
		plan.VNetResourceGroup(in))
	if otherSubscription(in, vnet.ID) != "" {
		return nil // checkIDs reports it
	}
	if isAzureID(vnet.ID) {
		return field.ErrorList{field.Invalid(path.Child("name"), plan.VNetName(in), fmt.Sprintf(message, path.Child("id")))}
	}
	for i, subnet := range in.AzureCluster.Spec.NetworkSpec.Subnets {
		if isAzureID(subnet.ID) && otherSubscription(in, subnet.ID) == "" {
			where := field.NewPath("spec", "networkSpec", "subnets").Index(i).Child("id")
			return field.ErrorList{field.Invalid(path.Child("name"), plan.VNetName(in), fmt.Sprintf(message, where))}
		}
	}
	return nil
}

// checkIDs refuses IDs that contradict the names: resources are found by name, so another ID would be ignored silently.
// The established provider accepts any value as the ID of a network or subnet: the OpenShift installer writes the bare
// name of a network there, and a marker into subnets that matters for defaults only. Values that are no IDs are ignored.
func checkIDs(in plan.ClusterInput) field.ErrorList {
	var errs field.ErrorList
	checkID := func(path *field.Path, have string, want arm.ID) {
		switch other := otherSubscription(in, have); {
		case have == "" || want.Equal(arm.ID(have)):
		case other != "":
			// No name leads there, and without the ID a resource of the name would be created in the cluster's subscription.
			errs = append(errs, field.Invalid(path, have, fmt.Sprintf("is in subscription %s, and the provider uses network resources of the "+
				"cluster's subscription %s only: use one of that subscription, or set spec.subscriptionID to %s", other, in.SubscriptionID, other)))
		default:
			errs = append(errs, field.Invalid(path, have,
				fmt.Sprintf("is not %s, which the names lead to: correct the names and resource groups, or remove the ID", want)))
		}
	}
	network := in.AzureCluster.Spec.NetworkSpec
	path := field.NewPath("spec", "networkSpec")
	if isAzureID(network.Vnet.ID) {
		checkID(path.Child("vnet", "id"), network.Vnet.ID, plan.VNetID(in))
	}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		if isAzureID(subnet.ID) {
			checkID(path.Child("id"), subnet.ID, plan.SubnetID(in, subnet.Name))
		}
		checkID(path.Child("securityGroup", "id"), subnet.SecurityGroup.ID, plan.SecurityGroupID(in, subnet.SecurityGroup.Name))
		checkID(path.Child("routeTable", "id"), subnet.RouteTable.ID, plan.RouteTableID(in, subnet.RouteTable.Name))
		checkID(path.Child("natGateway", "id"), subnet.NatGateway.ID, plan.NATGatewayID(in, subnet.NatGateway.Name))
	})
	for name, lb := range map[string]*infrav1.LoadBalancerSpec{
		"apiServerLB": network.APIServerLB, "controlPlaneOutboundLB": network.ControlPlaneOutboundLB, "nodeOutboundLB": network.NodeOutboundLB,
	} {
		if lb != nil {
			checkID(path.Child(name, "id"), lb.ID, plan.LoadBalancerID(in, lb.Name))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

// otherSubscription returns the subscription of an ID if it is not that of the cluster, "" otherwise.
func otherSubscription(in plan.ClusterInput, id string) string {
	if other := arm.ID(id).Subscription(); !strings.EqualFold(other, in.SubscriptionID) {
		return other
	}
	return ""
}

// isAzureID returns true for a value with the form of an Azure resource ID, which starts with a slash.
func isAzureID(value string) bool { return strings.HasPrefix(value, "/") }

// visitSubnets calls f for every subnet of the spec and its path, the bastion host's last.
func visitSubnets(in plan.ClusterInput, f func(path *field.Path, subnet infrav1.SubnetSpec)) {
	for i, subnet := range in.AzureCluster.Spec.NetworkSpec.Subnets {
		f(field.NewPath("spec", "networkSpec", "subnets").Index(i), subnet)
	}
	if bastion := in.AzureCluster.Spec.BastionSpec.AzureBastion; bastion != nil {
		f(field.NewPath("spec", "bastionSpec", "azureBastion", "subnet"), buildBastionSubnet(bastion))
	}
}

// checkZones refuses zones that the region does not have, and more than one zone of a NAT gateway.
func checkZones(in plan.ClusterInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		errs = append(errs, plan.CheckNATGateway(subnet.NatGateway, path.Child("natGateway"))...)
	})
	if in.Facts.ZonesPending {
		return errs
	}
	check := func(path *field.Path, zone string) {
		switch {
		case in.AzureCluster.Spec.ExtendedLocation != nil:
			errs = append(errs, field.Invalid(path, zone, "an edge zone has no availability zones: remove it"))
		case len(in.Facts.Zones) == 0:
			errs = append(errs, field.Invalid(path, zone, fmt.Sprintf("region %s has no availability zones: remove it", plan.Location(in))))
		case !slices.Contains(in.Facts.Zones, zone):
			errs = append(errs, field.Invalid(path, zone,
				fmt.Sprintf("is not an availability zone of region %s: choose from %s", plan.Location(in), strings.Join(in.Facts.Zones, ", "))))
		}
	}
	visitZones(in, path, check)
	if provisioned := in.AzureCluster.Status.Initialization.Provisioned; provisioned == nil || !*provisioned {
		// Existing clusters may have keys that never had an effect.
		for _, zone := range slices.Sorted(maps.Keys(in.AzureCluster.Spec.FailureDomains)) {
			check(field.NewPath("spec", "failureDomains").Key(zone), zone)
		}
	}
	return errs
}

// HasZones returns true if the spec sets availability zones. Nothing may be created then until the zones of the region are
// known, because a wrong zone has to be refused.
func HasZones(in plan.ClusterInput) bool {
	named := false
	visitZones(in, field.NewPath("spec", "networkSpec"), func(*field.Path, string) { named = true })
	return named
}

// visitZones calls visit for every availability zone of the spec.
func visitZones(in plan.ClusterInput, path *field.Path, visit func(path *field.Path, zone string)) {
	each := func(path *field.Path, zones []string) {
		for i, zone := range zones {
			visit(path.Index(i), zone)
		}
	}
	network := in.AzureCluster.Spec.NetworkSpec
	if lb := network.APIServerLB; lb != nil {
		each(path.Child("apiServerLB", "availabilityZones"), lb.AvailabilityZones)
	}
	if lb := network.NodeOutboundLB; lb != nil {
		each(path.Child("nodeOutboundLB", "availabilityZones"), lb.AvailabilityZones)
	}
	if lb := network.ControlPlaneOutboundLB; lb != nil {
		each(path.Child("controlPlaneOutboundLB", "availabilityZones"), lb.AvailabilityZones)
	}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		each(path.Child("natGateway", "zones"), subnet.NatGateway.Zones)
	})
}

// checkPeerings refuses a peering with the cluster's own network, two peerings of the same name or of one that is too long, and two that use a
// gateway of the other network, of which Azure allows one: https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq
func checkPeerings(in plan.ClusterInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	gateway := ""
	for i, peering := range in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings {
		if use := peering.ForwardPeeringProperties.UseRemoteGateways; use != nil && *use {
			if gateway != "" {
				errs = append(errs, field.Invalid(path.Index(i).Child("forwardPeeringProperties", "useRemoteGateways"), true,
					fmt.Sprintf("a network can use the gateway of one other network, and uses that of %s: set it for one peering only", gateway)))
			}
			gateway = peering.RemoteVnetName
		}
		here := path.Index(i).Child("remoteVnetName")
		remote := plan.RemoteVNetID(in, peering)
		if remote.Equal(plan.VNetID(in)) {
			errs = append(errs, field.Invalid(here, peering.RemoteVnetName, "is the cluster's own network: a network cannot be peered with itself"))
		}
		if hasPrivateDNS(in) && strings.EqualFold(peering.RemoteVnetName, plan.VNetName(in)) && !remote.Equal(plan.VNetID(in)) {
			errs = append(errs, field.Invalid(here, peering.RemoteVnetName, "the cluster's own network has the same name, and the names of the links "+
				"between the private DNS zone and the networks contain the name of the network only: give spec.networkSpec.vnet another name"))
		}
	}
	return append(errs, plan.CheckPeeringNames(plan.VNetName(in), plan.PeeringClasses(in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings), path)...)
}

// checkPrivateEndpoints refuses two private endpoints of the same name, and addresses without a member.
func checkPrivateEndpoints(in plan.ClusterInput) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		for i, endpoint := range subnet.PrivateEndpoints {
			name := strings.ToLower(endpoint.Name)
			if seen[name] {
				errs = append(errs, field.Duplicate(path.Child("privateEndpoints").Index(i).Child("name"), endpoint.Name))
			}
			seen[name] = true
			errs = append(errs, plan.CheckPrivateEndpoint(endpoint, path.Child("privateEndpoints").Index(i))...)
		}
	})
	return errs
}
