package asoresources

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// CheckVMSizes returns errors for the managed cluster and the agent pools of an object that AKS refused to create, if the region does not
// have their VM size.
func CheckVMSizes(ctx context.Context, f *facts.Facts, session reconcile.Session, in plan.Input,
	outcome arm.Outcome) (errs field.ErrorList) {
	for _, m := range in.OwnManifests() {
		id, err := in.ResourceID(m)
		if err != nil {
			continue
		}
		if result, ok := outcome.Result(id); ok {
			region, sizes := in.ListVMSizes(id)
			errs = append(errs, aks.CheckVMSizes(ctx, f, session.Caller(), result, region, sizes)...)
		}
	}
	return errs
}
