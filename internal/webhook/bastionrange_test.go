package webhook

import (
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
