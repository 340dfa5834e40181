package asoresource

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// PoolUsers are the pools of a Cluster by object key, as users of agent pools.
type PoolUsers map[string]plan.NameUser

// NewPoolUser returns a pool as user of its agent pool. clusterctl move drops the status, and an autoscaled pool may have no VMs, so each sign
// of a plan counts.
func NewPoolUser(pool *infrav1.AzureASOManagedMachinePool) plan.NameUser {
	provisioned := pool.Status.Initialization.Provisioned
	return plan.NameUser{Object: pool, Planned: len(pool.Spec.ProviderIDList) > 0 || pool.Status.Ready ||
		provisioned != nil && *provisioned || applied.IsStored(pool.Annotations)}
}

// findPoolOwner returns the object of another MachinePool to which the agent pool of a manifest belongs, "" if there is none. Each MachinePool
// sets the version and the number of nodes of its agent pool, so that two of them would replace each other's again and again.
func (in Input) findPoolOwner(m Manifest, id arm.ID) string {
	if !in.setsPool(m, id) {
		return ""
	}
	for _, other := range in.ManifestsOf(id) {
		if other.DeclaredIn != m.DeclaredIn && in.setsPool(other, id) && in.PoolUsers[other.DeclaredIn].OwnsName(in.PoolUsers[m.DeclaredIn]) {
			return other.DeclaredIn
		}
	}
	return ""
}

// setsPool reports whether a MachinePool sets properties of the agent pool of a manifest.
func (in Input) setsPool(m Manifest, id arm.ID) bool {
	_, isPool := in.PoolUsers[m.DeclaredIn]
	return isPool && id.Type() == types.AgentPool && in.isFirst(m) && in.MachinePools[m.DeclaredIn] != nil && m.Annotations[PolicyAnnotation] != PolicySkip
}

// checkSharedPool refuses the agent pool of another MachinePool.
func (in Input) checkSharedPool(m Manifest, id arm.ID) *field.Error {
	owner := in.findPoolOwner(m, id)
	if owner == "" {
		return nil
	}
	return field.Invalid(m.Path, m.AzureName(), fmt.Sprintf("is the name of the agent pool of %s, too. "+
		"Delete this object, which does not delete the agent pool, and create it with another name of the agent pool", owner))
}
