package agentpool

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// RequestedSize is the VM size of a pool, with the field that has it.
type RequestedSize struct{ Field, Size string }

// IsRefused returns true if AKS refused to create the resource: a pool, or a cluster with its pools. The error of AKS names the VM size,
// but neither the pool nor the supported sizes. Sizes of resources that AKS accepted are not checked, because AKS may support a size
// before the SKU catalog lists it.
func IsRefused(result arm.Result) bool {
	return result.State == arm.Failed && len(result.Observed) == 0 && !result.OwnedByOthers
}

// CheckVMSizes returns an error for each VM size that is not available in the region. The keys of unknown are the unavailable sizes, the
// values the most similar names.
func CheckVMSizes(region string, unknown map[string][]string, sizes []RequestedSize) (errs field.ErrorList) {
	for _, requested := range sizes {
		near, isUnknown := unknown[requested.Size]
		if !isUnknown {
			continue
		}
		errs = append(errs, &field.Error{Type: field.ErrorTypeInvalid, Field: requested.Field, BadValue: requested.Size,
			Detail: plan.DescribeUnknownSize(region, near)})
	}
	return errs
}
