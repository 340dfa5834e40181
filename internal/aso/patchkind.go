package aso

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"

// ownedFields are the keys of spec whose values other fields set. The value is the message that names the field.
var ownedFields = map[Kind]map[string]string{
	ManagedCluster: {
		"agentPoolProfiles": "is not patched here: every agent pool is an AzureManagedMachinePool, patched with its spec.asoManagedClustersAgentPoolPatches",
		"azureName":         "is set by metadata.name of the AzureManagedControlPlane, which is the cluster's name in Azure",
		"kubernetesVersion": "is set by spec.version of the AzureManagedControlPlane",
		"location":          "is set by spec.location of the AzureManagedControlPlane",
		"name":              "is set by metadata.name of the AzureManagedControlPlane, which is the cluster's name in Azure",
		"owner":             "is set by spec.resourceGroupName of the AzureManagedControlPlane",
	},
	AgentPool: {
		"azureName":           "is set by spec.name of the AzureManagedMachinePool",
		"count":               "is set by spec.replicas of the MachinePool, or by AKS's autoscaler while spec.scaling of the AzureManagedMachinePool is set",
		"enableAutoScaling":   "is set by spec.scaling of the AzureManagedMachinePool, which decides whether AKS's autoscaler or the MachinePool sets the number of nodes",
		"location":            "is set by spec.location of the AzureManagedControlPlane",
		"name":                "is set by spec.name of the AzureManagedMachinePool",
		"orchestratorVersion": "is set by spec.template.spec.version of the MachinePool",
		"owner":               "is set by the label cluster.x-k8s.io/cluster-name of the AzureManagedMachinePool",
	},
}

// resourceTypes are the resource types of the kinds.
var resourceTypes = map[Kind]string{ManagedCluster: types.ManagedCluster, AgentPool: types.AgentPool}

// resourcePlurals are the resource types of the kinds in messages.
var resourcePlurals = map[Kind]string{ManagedCluster: "managedClusters", AgentPool: "agentPools"}

// otherKindFields are the fields for patches of the other kind.
var otherKindFields = map[Kind]string{
	ManagedCluster: "spec.asoManagedClustersAgentPoolPatches of an AzureManagedMachinePool",
	AgentPool:      "spec.asoManagedClusterPatches of the AzureManagedControlPlane",
}

func otherKind(kind Kind) Kind {
	if kind == ManagedCluster {
		return AgentPool
	}
	return ManagedCluster
}
