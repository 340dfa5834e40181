package setup

import (
	"time"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// PreviewDependencies replace dependencies of controllers that run in a preview, against the simulated Azure.
type PreviewDependencies struct {
	// Workload returns a client for the ConfigMaps of a workload cluster.
	Workload func(kubeconfig []byte) (corev1client.ConfigMapsGetter, error)
	// Catalogs are the SKU catalogs that plans share; nil for none.
	Catalogs *facts.Catalogs
}

// catalogs returns the SKU catalogs that plans share; nil for none.
func (o *Options) catalogs() *facts.Catalogs {
	if o.Plan == nil {
		return nil
	}
	return o.Plan.Catalogs
}

// PlanFeatures returns the feature gates and flags that plans and webhooks depend on.
func (o *Options) PlanFeatures() plan.Features {
	out := planFeatures(o.Gates)
	out.UncheckedASOKinds = o.UncheckedASOKinds
	return out
}

// requestBudgets returns the budgets of requests. The simulated Azure of a preview has no limits.
func (o *Options) requestBudgets() *armclient.Budgets {
	if o.Plan != nil {
		return nil
	}
	return armclient.NewBudgets(time.Now, o.AzureRequestShare)
}

// workloadClient returns the function that connects to workload clusters.
func (o *Options) workloadClient() func([]byte) (corev1client.ConfigMapsGetter, error) {
	if o.Plan != nil {
		return o.Plan.Workload
	}
	return newWorkloadClient
}
