package webhook

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// maxClusterNameLength leaves room for what Azure names derived from the name of the cluster add to it.
const maxClusterNameLength = 44

var clusterNamePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,42}[a-z0-9]$`)

// ValidateAzureCluster checks a defaulted AzureCluster.
func ValidateAzureCluster(c *infrav1.AzureCluster, features plan.Features) (errs field.ErrorList) {
	if len(c.Name) > maxClusterNameLength {
		errs = append(errs, field.TooLong(field.NewPath("metadata", "name"), c.Name, maxClusterNameLength))
	} else if !clusterNamePattern.MatchString(c.Name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name, "must be 2 to 44 lower-case letters, digits and '-', and begin and end with a letter or digit"))
	}
	spec := field.NewPath("spec")
	errs = append(errs, validateIdentityRef(c, spec.Child("identityRef"))...)
	if c.Spec.ExtendedLocation != nil && !features.EdgeZone {
		errs = append(errs, field.Forbidden(spec.Child("extendedLocation"), "needs the feature gate EdgeZone"))
	}
	if bastion := c.Spec.BastionSpec.AzureBastion; bastion != nil {
		path := spec.Child("bastionSpec", "azureBastion")
		if bastion.EnableTunneling && bastion.Sku != infrav1.StandardBastionHostSku {
			errs = append(errs, field.Invalid(path.Child("enableTunneling"), true, "needs the sku Standard"))
		}
	}
	return append(errs, validateNetwork(c, features, spec.Child("networkSpec"))...)
}

func validateIdentityRef(c *infrav1.AzureCluster, path *field.Path) field.ErrorList {
	ref := c.Spec.IdentityRef
	if ref == nil {
		return field.ErrorList{field.Required(path, "name the AzureClusterIdentity to use")}
	}
	if ref.Kind != "AzureClusterIdentity" {
		return field.ErrorList{field.NotSupported(path.Child("kind"), ref.Kind, []string{"AzureClusterIdentity"})}
	}
	return nil
}

func validateNetwork(c *infrav1.AzureCluster, features plan.Features, path *field.Path) (errs field.ErrorList) {
	network := &c.Spec.NetworkSpec
	vnetPath, subnetsPath := path.Child("vnet"), path.Child("subnets")
	errs = append(errs, validateResourceGroup(network.Vnet.ResourceGroup, vnetPath.Child("resourceGroup"))...)
	_, invalid := parseCIDRs(network.Vnet.CIDRBlocks, vnetPath.Child("cidrBlocks"))
	errs = append(errs, invalid...)
	errs = append(errs, validatePeerings(network.Vnet.Peerings, vnetPath.Child("peerings"))...)

	classes := make([]subnetClass, 0, len(network.Subnets))
	for _, subnet := range network.Subnets {
		classes = append(classes, subnetClass{SubnetClassSpec: subnet.SubnetClassSpec, rules: subnet.SecurityGroup.SecurityRules})
	}
	errs = append(errs, validateSubnets(classes, network.Vnet.CIDRBlocks, subnetsPath)...)
	for i, subnet := range network.Subnets {
		errs = append(errs, validateServiceEndpoints(subnet.ServiceEndpoints, subnetsPath.Index(i).Child("serviceEndpoints"))...)
		errs = append(errs, validatePrivateEndpoints(subnet.PrivateEndpoints, subnet.CIDRBlocks, subnetsPath.Index(i).Child("privateEndpoints"))...)
	}
	errs = append(errs, validateRoles(c, subnetsPath)...)

	ipv6 := nodesHaveIPv6(network.Subnets)
	errs = append(errs, validateNodeOutboundLB(network.NodeOutboundLB, network.APIServerLB, ipv6, path.Child("nodeOutboundLB"))...)
	internal := true
	if c.Spec.ControlPlaneEnabled {
		errs = append(errs, validateAPIServerLB(network.APIServerLB, controlPlaneCIDRs(network.Subnets), features, path.Child("apiServerLB"))...)
		errs = append(errs, validateControlPlaneOutboundLB(network.ControlPlaneOutboundLB, network.APIServerLB, path.Child("controlPlaneOutboundLB"))...)
		internal = network.APIServerLB != nil && network.APIServerLB.Type == infrav1.Internal
	}
	return append(errs, validatePrivateDNSZone(network.NetworkClassSpec, internal, path)...)
}

// validateRoles checks that there is a subnet for every machine.
func validateRoles(c *infrav1.AzureCluster, path *field.Path) (errs field.ErrorList) {
	subnets := c.Spec.NetworkSpec.Subnets
	if hasRole(subnets, infrav1.SubnetCluster) {
		return nil
	}
	if !hasRole(subnets, infrav1.SubnetNode) {
		errs = append(errs, field.Required(path, "a subnet with the role node or cluster is missing"))
	}
	if c.Spec.ControlPlaneEnabled && !hasRole(subnets, infrav1.SubnetControlPlane) {
		errs = append(errs, field.Required(path, "a subnet with the role control-plane or cluster is missing"))
	}
	return errs
}

func validatePeerings(peerings infrav1.VnetPeerings, path *field.Path) (errs field.ErrorList) {
	seen := sets.New[string]()
	for i, peering := range peerings {
		key := peering.ResourceGroup + "/" + peering.RemoteVnetName
		if seen.Has(key) {
			errs = append(errs, field.Duplicate(path.Index(i), key))
		}
		seen.Insert(key)
	}
	return errs
}

// controlPlaneCIDRs are the ranges of the subnets that control-plane machines are in.
func controlPlaneCIDRs(subnets infrav1.Subnets) (blocks []string) {
	for _, role := range []infrav1.SubnetRole{infrav1.SubnetControlPlane, infrav1.SubnetCluster} {
		i := slices.IndexFunc(subnets, func(s infrav1.SubnetSpec) bool { return s.Role == role })
		if i >= 0 {
			return subnets[i].CIDRBlocks
		}
	}
	return nil
}
