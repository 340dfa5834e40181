package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestBastionRange replaces objects by manifests without a range for the bastion host's subnet, as kubectl replace does.
func TestBastionRange(t *testing.T) {
	former, today := []string{"10.255.255.224/27"}, []string{"10.255.255.192/26"}
	for name, test := range map[string]struct {
		reason       string
		stored, sent []string
		isNew        bool
		want         []string
	}{
		"new":              {reason: "Azure refuses a smaller subnet", isNew: true, want: today},
		"former default":   {reason: "a subnet in use cannot change its range", stored: former, want: former},
		"another is set":   {reason: "defaulting overwrites no value", stored: former, sent: today, want: today},
		"added afterwards": {reason: "the stored object has no bastion host", want: today},
	} {
		t.Run(name, func(t *testing.T) {
			bastion := func(ranges []string) *infrav1.AzureBastion {
				out := &infrav1.AzureBastion{}
				out.Subnet.CIDRBlocks = ranges
				return out
			}
			old, sent := &infrav1.AzureCluster{}, &infrav1.AzureCluster{}
			oldTemplate, sentTemplate := &infrav1.AzureClusterTemplate{}, &infrav1.AzureClusterTemplate{}
			if test.stored != nil {
				old.Spec.BastionSpec.AzureBastion = bastion(test.stored)
				oldTemplate.Spec.Template.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastionTemplateSpec{}
				oldTemplate.Spec.Template.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks = test.stored
			}
			sent.Spec.BastionSpec.AzureBastion = bastion(test.sent)
			sentTemplate.Spec.Template.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastionTemplateSpec{}
			sentTemplate.Spec.Template.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks = test.sent
			ctx, templateCtx := t.Context(), t.Context()
			if !test.isNew {
				ctx, templateCtx = updateOf(t, old), updateOf(t, oldTemplate)
			}
			if err := azureClusterKind(plan.Features{}).Default(ctx, sent); err != nil {
				t.Fatal(err)
			}
			if err := clusterTemplates(plan.Features{}).Default(templateCtx, sentTemplate); err != nil {
				t.Fatal(err)
			}
			for kind, got := range map[string][]string{"AzureCluster": sent.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks,
				"AzureClusterTemplate": sentTemplate.Spec.Template.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks} {
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s of %s: -want +got\n%s", test.reason, kind, diff)
				}
			}
		})
	}
}

// TestSmallBastionSubnet creates and changes clusters and templates whose bastion host has a small subnet.
func TestSmallBastionSubnet(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		ranges []string
		had    bool
		warns  bool
	}{
		"default":         {reason: "the default is large enough"},
		"64 addresses":    {reason: "Microsoft supports it", ranges: []string{"10.255.255.0/26"}},
		"32 addresses":    {reason: "Microsoft does not support it, and a range cannot change later", ranges: []string{"10.255.255.0/27"}, warns: true},
		"existing":        {reason: "hosts in a /27 keep working, and a warning is not repeated at every update", ranges: []string{"10.255.255.0/27"}, had: true},
		"a larger one":    {reason: "the host has room in one of the ranges", ranges: []string{"10.255.255.0/27", "10.255.254.0/26"}},
		"IPv6 beside it":  {reason: "a bastion host uses IPv4", ranges: []string{"10.255.255.0/27", "2001:db8::/64"}, warns: true},
		"no range at all": {reason: "the schema refuses it", ranges: []string{"ten"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			clusters, templates := azureClusterKind(plan.Features{}), clusterTemplates(plan.Features{})
			c, template := newCluster(), &infrav1.AzureClusterTemplate{}
			was := c.DeepCopy()
			c.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastion{}
			c.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks = test.ranges
			template.Spec.Template.Spec.BastionSpec.AzureBastion = &infrav1.AzureBastionTemplateSpec{}
			template.Spec.Template.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks = test.ranges
			clusters.defaults(c)
			templates.defaults(template)
			if test.had {
				was = c.DeepCopy()
				c.Spec.AdditionalTags = infrav1.Tags{"a": "b"}
			}
			got := map[string][]string{}
			got["added"], _ = clusters.ValidateUpdate(ctx, was, c)
			if !test.had {
				got["cluster"], _ = clusters.ValidateCreate(ctx, c)
				got["template"], _ = templates.ValidateCreate(ctx, template)
			}
			for operation, warnings := range got {
				if (len(warnings) == 1) != test.warns || test.warns && !strings.Contains(warnings[0], "azureBastion.subnet.cidrBlocks: "+test.ranges[0]) {
					t.Errorf("%s: %s: got %q", test.reason, operation, warnings)
				}
			}
		})
	}
}
