package aks

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// CheckVMSizes returns errors for the pools that AKS refused to create, alone or with the cluster, and whose VM size the region does
// not have. If the catalog cannot be read, the error of AKS has to do.
func CheckVMSizes(ctx context.Context, f *facts.Facts, caller facts.Caller, refused arm.Result, region string,
	sizes []agentpool.RequestedSize) field.ErrorList {
	if !agentpool.IsRefused(refused) || region == "" || len(sizes) == 0 {
		return nil
	}
	names := make([]string, 0, len(sizes))
	for _, requested := range sizes {
		names = append(names, requested.Size)
	}
	unknown, err := f.FindUnknownSizes(ctx, caller, refused.ID.Subscription(), region, names)
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("The VM sizes of the region are not known", "reason", err.Error())
		return nil
	}
	return agentpool.CheckVMSizes(region, unknown, sizes)
}
