package webhook

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// azureClusterKind depend on feature gates.
func azureClusterKind(features plan.Features) kind[*infrav1.AzureCluster] {
	endpoint := keepEndpoint(func(c *infrav1.AzureCluster) *infrav1.APIEndpoint { return &c.Spec.ControlPlaneEndpoint })
	return kind[*infrav1.AzureCluster]{
		spec: func(c *infrav1.AzureCluster) any { return &c.Spec },
		fill: func(ctx context.Context, c *infrav1.AzureCluster) error {
			keepFrontends(ctx, c)
			keepBastionRange(ctx, c, func(c *infrav1.AzureCluster) *[]string {
				if c.Spec.BastionSpec.AzureBastion == nil {
					return nil
				}
				return &c.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks
			})
			return endpoint(ctx, c)
		},
		defaults: func(c *infrav1.AzureCluster) {
			defaults.FillAzureCluster(c)
			if features.APIServerILB {
				defaults.FillInternalAPIServerFrontend(c)
			}
		},
		create: func(_ context.Context, c *infrav1.AzureCluster) (field.ErrorList, error) {
			return ValidateAzureCluster(c, features), nil
		},
		update: func(_ context.Context, old, c *infrav1.AzureCluster) (field.ErrorList, error) {
			return ValidateAzureClusterUpdate(old, c, features), nil
		},
		warn: func(old, c *infrav1.AzureCluster) admission.Warnings {
			return append(networkWarnings(old, c), bastionWarnings(old, c)...)
		},
	}
}

// clusterTemplates depend on feature gates.
func clusterTemplates(features plan.Features) kind[*infrav1.AzureClusterTemplate] {
	return kind[*infrav1.AzureClusterTemplate]{
		template: true,
		spec:     func(t *infrav1.AzureClusterTemplate) any { return &t.Spec.Template.Spec },
		fill: func(ctx context.Context, t *infrav1.AzureClusterTemplate) error {
			keepBastionRange(ctx, t, func(t *infrav1.AzureClusterTemplate) *[]string {
				if t.Spec.Template.Spec.BastionSpec.AzureBastion == nil {
					return nil
				}
				return &t.Spec.Template.Spec.BastionSpec.AzureBastion.Subnet.CIDRBlocks
			})
			return nil
		},
		defaults: defaults.FillAzureClusterTemplate,
		create: of(func(t *infrav1.AzureClusterTemplate) field.ErrorList {
			return ValidateAzureClusterTemplate(t, features)
		}),
		update: between(ValidateAzureClusterTemplateUpdate),
		warn:   onCreation(templateBastionWarnings),
	}
}

// keepEndpoint restores the endpoint that the controller has set when an update leaves it out, for example kubectl replace. An
// endpoint with another value is not overwritten, so that validation refuses it where it cannot change.
func keepEndpoint[T client.Object](endpoint func(T) *infrav1.APIEndpoint) func(context.Context, T) error {
	return func(ctx context.Context, obj T) error {
		stored := empty[T]()
		if !isUpdateOf(ctx, stored) {
			return nil
		}
		was, is := endpoint(stored), endpoint(obj)
		is.Host, is.Port = cmp.Or(is.Host, was.Host), cmp.Or(is.Port, was.Port)
		return nil
	}
}

// keepBastionRange restores the range of the bastion host's subnet that an update leaves out: objects that were created with the established
// provider's default have a smaller range, and a subnet with addresses in use cannot change its range. ranges returns nil for an object
// without a bastion host.
func keepBastionRange[T client.Object](ctx context.Context, obj T, ranges func(T) *[]string) {
	is := ranges(obj)
	if is == nil || len(*is) > 0 {
		return
	}
	if stored := empty[T](); isUpdateOf(ctx, stored) && ranges(stored) != nil {
		*is = *ranges(stored)
	}
}

// keepFrontends restores the frontends of the API server that an update leaves out once there are resources. Defaults would give the API
// server another address. Frontends of another type of load balancer are not restored: validation refuses the type.
func keepFrontends(ctx context.Context, c *infrav1.AzureCluster) {
	stored := &infrav1.AzureCluster{}
	if !isUpdateOf(ctx, stored) || !plan.HasAzureResources(stored) || !c.Spec.ControlPlaneEnabled {
		return
	}
	was, is := stored.Spec.NetworkSpec.APIServerLB, cmp.Or(c.Spec.NetworkSpec.APIServerLB, &infrav1.LoadBalancerSpec{})
	if was == nil || len(is.FrontendIPs) > 0 || cmp.Or(was.Type, infrav1.Public) != cmp.Or(is.Type, infrav1.Public) {
		return
	}
	is.FrontendIPs = was.FrontendIPs
	c.Spec.NetworkSpec.APIServerLB = is
}
