package aks

import (
	"encoding/json"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Input is the input of the plans of an AKS cluster and its pools. The objects are copies with the defaults of the webhooks. Plans
// do not change them.
type Input struct {
	// Cluster is nil if the Cluster is already deleted.
	Cluster      *clusterv1.Cluster
	ControlPlane *infrav1.AzureManagedControlPlane

	// Pools are the pools of the cluster, in any order. The plan of the control plane uses them until the managed cluster exists,
	// because a cluster is created with its pools.
	Pools []Pool

	// SubscriptionID is the subscription of the cluster: spec.subscriptionID or the default of the manager.
	SubscriptionID string

	// Secrets are the values of the Secrets that patches refer to.
	Secrets aso.Secrets

	Facts Facts
}

// Pool is an agent pool.
type Pool struct {
	// MachinePool is the owner of the pool, nil until it exists.
	MachinePool *clusterv1.MachinePool
	AzurePool   *infrav1.AzureManagedMachinePool
	// PowerState is the one that annotations ask for, "" for none.
	PowerState string
}

// Facts are the resources in Azure. The plan of the control plane reads VNet, Subnet and Cluster, the plan of a pool Cluster and
// AgentPool. CheckPool looks for the subnet of the pool if VNet is set.
type Facts struct {
	// VNet is the current virtual network.
	VNet plan.VNetFact
	// Subnet is the subnet of the cluster as Azure shows it, nil if it does not exist.
	Subnet json.RawMessage
	// Cluster is the managed cluster as Azure shows it, nil if it does not exist.
	Cluster json.RawMessage
	// AgentPool is the planned agent pool as Azure shows it, nil if it does not exist.
	AgentPool json.RawMessage
}
