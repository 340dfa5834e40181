package aks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// RefusedVMSizes returns the VM sizes of the pools if AKS refused to create the resource: a pool, or the cluster with its pools. The
// error of AKS names the size, but neither the pool nor the supported sizes. Sizes of resources that AKS accepted are not checked,
// because AKS may support a size before the SKU catalog lists it.
func RefusedVMSizes(refused arm.Result, pools ...Pool) []string {
	if refused.State != arm.Failed || len(refused.Observed) > 0 {
		return nil
	}
	var out []string
	for _, pool := range pools {
		out = append(out, pool.AzurePool.Spec.SKU)
	}
	return out
}

// CheckVMSizes returns an error for each pool whose VM size is not available in the region. The keys of unknown are the unavailable
// sizes, the values the most similar names.
func CheckVMSizes(in Input, unknown map[string][]string, pools ...Pool) (errs field.ErrorList) {
	for _, pool := range listActivePools(pools) {
		near, isUnknown := unknown[pool.AzurePool.Spec.SKU]
		if !isUnknown {
			continue
		}
		text := fmt.Sprintf("region %s has no such VM size", in.ControlPlane.Spec.Location)
		if len(near) > 0 {
			text += "; near to it are " + strings.Join(near, ", ")
		}
		path := field.NewPath("AzureManagedMachinePool").Key(pool.AzurePool.Name).Child("spec", "sku")
		errs = append(errs, field.Invalid(path, pool.AzurePool.Spec.SKU, text))
	}
	return errs
}
