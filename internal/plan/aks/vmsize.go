package aks

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// ListVMSizes returns the VM sizes of the pools that are not being deleted.
func ListVMSizes(pools ...Pool) (out []agentpool.RequestedSize) {
	for _, pool := range listActivePools(pools) {
		path := field.NewPath("AzureManagedMachinePool").Key(pool.AzurePool.Name).Child("spec", "sku")
		out = append(out, agentpool.RequestedSize{Field: path.String(), Size: pool.AzurePool.Spec.SKU})
	}
	return out
}
