package aks

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// CheckVMSizes returns errors for the pools that AKS refused to create, alone or with the cluster, and whose VM size the region does
// not have. If the catalog cannot be read, the error of AKS has to do.
func CheckVMSizes(ctx context.Context, f *facts.Facts, asker facts.Asker, in plan.Input, refused arm.Result,
	pools ...plan.Pool) field.ErrorList {
	sizes := plan.RefusedVMSizes(refused, pools...)
	if len(sizes) == 0 {
		return nil
	}
	unknown, err := f.FindUnknownSizes(ctx, asker, in.SubscriptionID, in.ControlPlane.Spec.Location, sizes)
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("The VM sizes of the region are not known", "reason", err.Error())
		return nil
	}
	return plan.CheckVMSizes(in, unknown, pools...)
}
