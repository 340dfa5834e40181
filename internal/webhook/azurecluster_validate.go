package webhook

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ValidateAzureCluster checks the rules of a defaulted AzureCluster that its CRD cannot express.
func ValidateAzureCluster(c *infrav1.AzureCluster, features plan.Features) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	if c.Spec.ExtendedLocation != nil && !features.EdgeZone {
		errs = append(errs, field.Forbidden(spec.Child("extendedLocation"),
			"needs the feature gate EdgeZone: start the manager with --feature-gates=EdgeZone=true, or remove the field"))
	}
	return append(errs, validateNetwork(c, features, spec.Child("networkSpec"))...)
}

func validateNetwork(c *infrav1.AzureCluster, features plan.Features, path *field.Path) (errs field.ErrorList) {
	network := &c.Spec.NetworkSpec
	subnetsPath := path.Child("subnets")
	errs = append(errs, validatePeerings(network.Vnet.Peerings, path.Child("vnet", "peerings"))...)

	classes := make([]subnetClass, 0, len(network.Subnets))
	for _, subnet := range network.Subnets {
		classes = append(classes, subnetClass{SubnetClassSpec: subnet.SubnetClassSpec, rules: subnet.SecurityGroup.SecurityRules})
	}
	errs = append(errs, validateSubnets(classes, network.Vnet.CIDRBlocks, subnetsPath)...)
	for i, subnet := range network.Subnets {
		errs = append(errs, validateServiceEndpoints(subnet.ServiceEndpoints, subnetsPath.Index(i).Child("serviceEndpoints"))...)
		errs = append(errs, validatePrivateEndpoints(subnet.PrivateEndpoints, subnet.CIDRBlocks,
			subnetsPath.Index(i).Child("privateEndpoints"))...)
		errs = append(errs, plan.CheckNATGateway(subnet.NatGateway, subnetsPath.Index(i).Child("natGateway"))...)
	}
	errs = append(errs, validateRoles(c, subnetsPath)...)

	errs = append(errs, validateNodeOutboundLB(network.NodeOutboundLB, network.APIServerLB, plan.NodesHaveIPv6(network.Subnets),
		path.Child("nodeOutboundLB"))...)
	if c.Spec.ControlPlaneEnabled {
		errs = append(errs, validateAPIServerLB(network.APIServerLB, plan.ControlPlaneCIDRs(network.Subnets), features,
			path.Child("apiServerLB"))...)
	}
	return errs
}

// validateRoles checks that there is a subnet for every machine.
func validateRoles(c *infrav1.AzureCluster, path *field.Path) (errs field.ErrorList) {
	subnets := c.Spec.NetworkSpec.Subnets
	if plan.HasSubnetRole(subnets, infrav1.SubnetCluster) {
		return nil
	}
	if !plan.HasSubnetRole(subnets, infrav1.SubnetNode) {
		errs = append(errs, field.Required(path, "a subnet with the role node or cluster is missing"))
	}
	if c.Spec.ControlPlaneEnabled && !plan.HasSubnetRole(subnets, infrav1.SubnetControlPlane) {
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
