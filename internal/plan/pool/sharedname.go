package pool

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// ListSharingPools returns the other pools with the same scale set that are not being deleted. If there are any, the scale set must not
// be deleted with this pool.
func ListSharingPools(in Input) (out []*infrav1.AzureMachinePool) {
	for _, other := range in.ClusterPools {
		if other.Name != in.AzureMachinePool.Name && other.DeletionTimestamp.IsZero() &&
			strings.EqualFold(ScaleSetName(Input{AzureMachinePool: other}), ScaleSetName(in)) {
			out = append(out, other)
		}
	}
	return out
}

// CheckScaleSetName refuses a pool whose scale set belongs to another pool. It needs no facts.
func CheckScaleSetName(in Input) field.ErrorList {
	for _, other := range ListSharingPools(in) {
		if !nameUser(other).OwnsName(nameUser(in.AzureMachinePool)) {
			continue
		}
		shared := fmt.Sprintf("has the scale set %s of AzureMachinePool %s. Delete this AzureMachinePool, which does not delete the scale set, and create it with ",
			ScaleSetName(in), other.Name)
		if id := in.AzureMachinePool.Spec.ProviderID; id != "" {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "providerID"), id, shared+"another name and without providerID")}
		}
		return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), in.AzureMachinePool.Name, shared+fmt.Sprintf(
			"a name that has other last five characters, or at most %d characters", windowsNameLength))}
	}
	return nil
}

// WasPlanned reports whether a plan of the pool was ever stored, by the pool's own fields.
func WasPlanned(azurePool *infrav1.AzureMachinePool) bool {
	return azurePool.Spec.ProviderID != "" || applied.IsStored(azurePool.Annotations)
}

// nameUser returns a pool as user of its scale set.
func nameUser(azurePool *infrav1.AzureMachinePool) plan.NameUser {
	return plan.NameUser{Object: azurePool, Planned: WasPlanned(azurePool)}
}

// FindScaleSetPool returns the AzureMachinePool of a scale set, nil if it is that of none of the Cluster's pools.
func FindScaleSetPool(in plan.ClusterInput, pools []*infrav1.AzureMachinePool, scaleSet arm.ID) *infrav1.AzureMachinePool {
	for _, of := range pools {
		if ScaleSetID(Input{ClusterInput: in, AzureMachinePool: of}).Equal(scaleSet) {
			return of
		}
	}
	return nil
}
