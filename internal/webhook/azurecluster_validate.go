package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ValidateAzureCluster checks the rules of a defaulted AzureCluster that its CRD cannot express.
func ValidateAzureCluster(c *infrav1.AzureCluster, features plan.Features) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	errs = append(errs, validateClusterClass(&c.Spec.AzureClusterClassSpec, features, spec)...)
	if bastion := c.Spec.BastionSpec.AzureBastion; bastion != nil {
		errs = append(errs, validateBastionSubnet(subnetClass{SubnetClassSpec: bastion.Subnet.SubnetClassSpec, rules: bastion.Subnet.SecurityGroup.SecurityRules},
			spec.Child("bastionSpec", "azureBastion", "subnet"))...)
	}
	return append(errs, validateNetwork(c, features, spec.Child("networkSpec"))...)
}

// validateClusterClass checks the fields that clusters and templates have in common.
func validateClusterClass(spec *infrav1.AzureClusterClassSpec, features plan.Features, path *field.Path) field.ErrorList {
	if spec.ExtendedLocation != nil && !features.EdgeZone {
		return field.ErrorList{field.Forbidden(path.Child("extendedLocation"),
			"needs the feature gate EdgeZone: start the manager with --feature-gates=EdgeZone=true, or remove the field")}
	}
	return nil
}

func validateNetwork(c *infrav1.AzureCluster, features plan.Features, path *field.Path) (errs field.ErrorList) {
	network := &c.Spec.NetworkSpec
	subnetsPath := path.Child("subnets")
	classes := make([]subnetClass, 0, len(network.Subnets))
	for _, subnet := range network.Subnets {
		classes = append(classes, subnetClass{SubnetClassSpec: subnet.SubnetClassSpec, rules: subnet.SecurityGroup.SecurityRules})
	}
	errs = append(errs, validateNetworkClass(network.Vnet.Name, &network.Vnet.VnetClassSpec, plan.PeeringClasses(network.Vnet.Peerings), classes, path)...)
	for i, subnet := range network.Subnets {
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
		errs = append(errs, field.Required(path, plan.NoNodeSubnet))
	}
	if c.Spec.ControlPlaneEnabled && !plan.HasSubnetRole(subnets, infrav1.SubnetControlPlane) {
		errs = append(errs, field.Required(path, plan.NoControlPlaneSubnet))
	}
	return errs
}
