package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// ValidateAzureClusterTemplate checks the rules of a defaulted AzureClusterTemplate that its CRD cannot express. Rules that depend
// on the cluster are checked when an AzureCluster is created from the template.
func ValidateAzureClusterTemplate(t *infrav1.AzureClusterTemplate, features plan.Features) (errs field.ErrorList) {
	spec := field.NewPath("spec", "template", "spec")
	errs = append(errs, validateClusterClass(&t.Spec.Template.Spec.AzureClusterClassSpec, features, spec)...)
	if bastion := t.Spec.Template.Spec.BastionSpec.AzureBastion; bastion != nil {
		errs = append(errs, validateBastionSubnet(subnetClass{SubnetClassSpec: bastion.Subnet.SubnetClassSpec, rules: bastion.Subnet.SecurityGroup.SecurityRules},
			spec.Child("bastionSpec", "azureBastion", "subnet"))...)
	}

	network, path := t.Spec.Template.Spec.NetworkSpec, spec.Child("networkSpec")
	classes := make([]subnetClass, 0, len(network.Subnets))
	for _, subnet := range network.Subnets {
		classes = append(classes, subnetClass{SubnetClassSpec: subnet.SubnetClassSpec, rules: subnet.SecurityGroup.SecurityRules})
	}
	errs = append(errs, validateNetworkClass("", &network.Vnet.VnetClassSpec, network.Vnet.Peerings, classes, path)...)

	apiServerLB := &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: network.APIServerLB}
	var nodeOutboundLB *infrav1.LoadBalancerSpec
	if class := network.NodeOutboundLB; class != nil {
		nodeOutboundLB = &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: *class}
	}
	return append(errs, validateNodeOutboundLB(nodeOutboundLB, apiServerLB, plan.TemplateNodesHaveIPv6(network.Subnets),
		path.Child("nodeOutboundLB"))...)
}

// ValidateAzureClusterTemplateUpdate refuses every change of the template; both objects are defaulted.
func ValidateAzureClusterTemplateUpdate(old, t *infrav1.AzureClusterTemplate) field.ErrorList {
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "template", "spec"),
		"a template cannot change; create a new one and refer to it")}
}
