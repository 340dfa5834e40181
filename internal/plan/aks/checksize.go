package aks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// RefusedVMSizes are the VM sizes of pools that AKS has refused to make: alone, or with the cluster. AKS names the size that it
// refuses, and neither the pool nor the sizes that it would take. Others are not looked at, because AKS may know a size before
// the catalog does.
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

// CheckVMSizes lists the pools whose VM size the region does not have. unknown are the sizes that it does not have, each with
// the names most like it.
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
