package defaults

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestDefaultRanges gives ranges to the subnets of a cluster and to those of a template.
func TestDefaultRanges(t *testing.T) {
	const cluster, controlPlane, node = infrav1.SubnetCluster, infrav1.SubnetControlPlane, infrav1.SubnetNode
	type subnet = infrav1.SubnetClassSpec
	for name, tc := range map[string]struct {
		reason  string
		subnets []subnet
		want    []string
	}{
		"two for everything": {"subnets of a network share no addresses", []subnet{{Role: cluster}, {Role: cluster}},
			[]string{"10.0.0.0/16", "10.1.0.0/16"}},
		"two for control planes": {"subnets of a network share no addresses", []subnet{{Role: controlPlane}, {Role: controlPlane}, {Role: node}},
			[]string{"10.0.0.0/16", "10.2.0.0/16", "10.1.0.0/16"}},
		"every role": {"node subnets keep the range of their number",
			[]subnet{{Role: cluster}, {Role: controlPlane}, {Role: node}, {Role: node}},
			[]string{"10.0.0.0/16", "10.3.0.0/16", "10.1.0.0/16", "10.2.0.0/16"}},
		"one has a range": {"the others keep clear of it", []subnet{{Role: cluster, CIDRBlocks: []string{"10.0.0.0/15"}}, {Role: cluster}},
			[]string{"10.0.0.0/15", "10.2.0.0/16"}},
		"nothing is free": {"Azure has the last word", []subnet{{Role: cluster, CIDRBlocks: []string{"10.0.0.0/8"}}, {Role: cluster}},
			[]string{"10.0.0.0/8", "10.254.0.0/16"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, template := newCluster(), &infrav1.AzureClusterTemplate{}
			for _, s := range tc.subnets {
				c.Spec.NetworkSpec.Subnets = append(c.Spec.NetworkSpec.Subnets, infrav1.SubnetSpec{SubnetClassSpec: s})
				template.Spec.Template.Spec.NetworkSpec.Subnets = append(template.Spec.Template.Spec.NetworkSpec.Subnets,
					infrav1.SubnetTemplateSpec{SubnetClassSpec: s})
			}
			for range 2 {
				FillAzureCluster(c)
				FillAzureClusterTemplate(template)
				var ofCluster, ofTemplate []string
				for _, s := range c.Spec.NetworkSpec.Subnets[:len(tc.want)] {
					ofCluster = append(ofCluster, s.CIDRBlocks...)
				}
				for _, s := range template.Spec.Template.Spec.NetworkSpec.Subnets {
					ofTemplate = append(ofTemplate, s.CIDRBlocks...)
				}
				if diff := cmp.Diff(tc.want, ofCluster); diff != "" {
					t.Errorf("%s, in a cluster: -want +got\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.want, ofTemplate); diff != "" {
					t.Errorf("%s, in a template: -want +got\n%s", tc.reason, diff)
				}
			}
		})
	}
}
