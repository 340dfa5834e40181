package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ValidateAzureClusterTemplate checks a defaulted AzureClusterTemplate. What depends on the cluster is checked when an
// AzureCluster is made from it.
func ValidateAzureClusterTemplate(t *infrav1.AzureClusterTemplate) (errs field.ErrorList) {
	network, path := t.Spec.Template.Spec.NetworkSpec, field.NewPath("spec", "template", "spec", "networkSpec")
	_, invalid := parseCIDRs(network.Vnet.CIDRBlocks, path.Child("vnet", "cidrBlocks"))
	errs = append(errs, invalid...)
	classes := make([]subnetClass, 0, len(network.Subnets))
	for _, subnet := range network.Subnets {
		classes = append(classes, subnetClass{SubnetClassSpec: subnet.SubnetClassSpec, rules: subnet.SecurityGroup.SecurityRules})
	}
	errs = append(errs, validateSubnets(classes, network.Vnet.CIDRBlocks, path.Child("subnets"))...)

	apiServerLB := &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: network.APIServerLB}
	errs = append(errs, validateLBClass(network.APIServerLB, path.Child("apiServerLB"))...)
	errs = append(errs, validateNodeOutboundLB(lbOfClass(network.NodeOutboundLB), apiServerLB, templateNodesHaveIPv6(network.Subnets), path.Child("nodeOutboundLB"))...)
	errs = append(errs, validateControlPlaneOutboundLB(lbOfClass(network.ControlPlaneOutboundLB), apiServerLB, path.Child("controlPlaneOutboundLB"))...)
	return append(errs, validatePrivateDNSZone(network.NetworkClassSpec, network.APIServerLB.Type == infrav1.Internal, path)...)
}

func lbOfClass(class *infrav1.LoadBalancerClassSpec) *infrav1.LoadBalancerSpec {
	if class == nil {
		return nil
	}
	return &infrav1.LoadBalancerSpec{LoadBalancerClassSpec: *class}
}

// ValidateAzureClusterTemplateUpdate refuses every change of the template; both objects are defaulted.
func ValidateAzureClusterTemplateUpdate(old, t *infrav1.AzureClusterTemplate) field.ErrorList {
	if unchanged(t, old.Spec.Template.Spec, t.Spec.Template.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "template", "spec"), "a template cannot change; make a new one and refer to it")}
}
