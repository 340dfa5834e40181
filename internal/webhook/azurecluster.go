package webhook

import (
	"cmp"
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// clusters depend on feature gates.
func clusters(features plan.Features) kind[*infrav1.AzureCluster] {
	return kind[*infrav1.AzureCluster]{
		spec: func(c *infrav1.AzureCluster) any { return &c.Spec },
		fill: keepEndpoint,
		defaults: func(c *infrav1.AzureCluster) {
			DefaultAzureCluster(c)
			if features.APIServerILB {
				DefaultInternalAPIServerFrontend(c)
			}
		},
		create: func(_ context.Context, c *infrav1.AzureCluster) (field.ErrorList, error) {
			return ValidateAzureCluster(c, features), nil
		},
		update: func(_ context.Context, old, c *infrav1.AzureCluster) (field.ErrorList, error) {
			return ValidateAzureClusterUpdate(old, c, features), nil
		},
		warn: networkWarnings,
	}
}

var clusterTemplates = kind[*infrav1.AzureClusterTemplate]{
	template: true,
	spec:     func(t *infrav1.AzureClusterTemplate) any { return &t.Spec.Template.Spec },
	defaults: DefaultAzureClusterTemplate,
	create:   of(ValidateAzureClusterTemplate),
	update:   between(ValidateAzureClusterTemplateUpdate),
}

// keepEndpoint keeps the endpoint that the controller has set, where an update leaves it out, as one that replaces the whole object does. An
// endpoint with another value stays, so that it is refused.
func keepEndpoint(ctx context.Context, c *infrav1.AzureCluster) error {
	old := &infrav1.AzureCluster{}
	if !isUpdateOf(ctx, old) {
		return nil
	}
	endpoint := &c.Spec.ControlPlaneEndpoint
	endpoint.Host = cmp.Or(endpoint.Host, old.Spec.ControlPlaneEndpoint.Host)
	endpoint.Port = cmp.Or(endpoint.Port, old.Spec.ControlPlaneEndpoint.Port)
	return nil
}
