package webhook

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestDefaultedTemplatesAreValid(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		vnet    []string
		subnets infrav1.SubnetTemplatesSpec
	}{
		"no subnets": {reason: "AzureClusters add the subnets that a template leaves out"},
		"node subnets only": {reason: "AzureClusters add the subnet of the control plane",
			subnets: infrav1.SubnetTemplatesSpec{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "a", Role: infrav1.SubnetNode}}}},
		"IPv6": {reason: "a range of IPv6 counts like one of IPv4", vnet: []string{"10.0.0.0/8", "2001:db8::/56"},
			subnets: infrav1.SubnetTemplatesSpec{
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "b", Role: infrav1.SubnetNode, CIDRBlocks: []string{"2001:db8::/64"}}},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			template := &infrav1.AzureClusterTemplate{}
			spec := &template.Spec.Template.Spec.NetworkSpec
			spec.Subnets, spec.Vnet.CIDRBlocks = tc.subnets, tc.vnet
			defaults.FillAzureClusterTemplate(template)
			if errs := ValidateAzureClusterTemplate(template, plan.Features{}); len(errs) > 0 {
				t.Errorf("%s: %v", tc.reason, errs)
			}
		})
	}
}
