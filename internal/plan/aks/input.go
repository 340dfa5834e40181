package aks

import (
	"encoding/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Input is what the plans of an AKS cluster and its pools are computed from. The objects are copies, defaulted as the
// webhooks default them; a plan does not change them.
type Input struct {
	// Cluster is nil when the control plane outlived it.
	Cluster      *clusterv1.Cluster
	ControlPlane *infrav1.AzureManagedControlPlane

	// Pools are the pools of the cluster, in any order. They matter to the plan of the control plane as long as the
	// managed cluster does not exist: it is created with them.
	Pools []Pool

	// SubscriptionID is the subscription the cluster lives in: spec.subscriptionID or what the manager falls back to.
	SubscriptionID string

	// Secrets are the values of secrets that patches refer to.
	Secrets aso.Secrets

	Facts Facts
}

// Pool is one agent pool.
type Pool struct {
	// MachinePool is the owner of the pool, nil while it has none.
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureManagedMachinePool
}

// Facts are what Azure has. The plan of the control plane reads VNet, Subnet and Cluster, that of a pool Cluster and
// AgentPool; CheckPool looks for the pool's subnet where VNet is filled in.
type Facts struct {
	// VNet is the virtual network as it is now.
	VNet plan.VNetFact
	// Subnet is the cluster's subnet as Azure shows it, nil when it does not exist.
	Subnet json.RawMessage
	// Cluster is the managed cluster as Azure shows it, nil when it does not exist.
	Cluster json.RawMessage
	// AgentPool is the agent pool that is planned as Azure shows it, nil when it does not exist.
	AgentPool json.RawMessage
}
