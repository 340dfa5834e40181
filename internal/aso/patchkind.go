package aso

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"

// ownedFields are the keys of spec whose values other fields set. The value is the message that names the field.
var ownedFields = map[Kind]map[string]string{
	ManagedCluster: {
		"agentPoolProfiles": "is not patched here: every agent pool is an AzureManagedMachinePool, patched with its spec.asoManagedClustersAgentPoolPatches",
		"azureName":         "is owned by metadata.name of the AzureManagedControlPlane, which is the cluster's name in Azure",
		"kubernetesVersion": "is owned by spec.version of the AzureManagedControlPlane",
		"location":          "is owned by spec.location of the AzureManagedControlPlane",
		"name":              "is owned by metadata.name of the AzureManagedControlPlane, which is the cluster's name in Azure",
		"owner":             "is owned by spec.resourceGroupName of the AzureManagedControlPlane",
	},
	AgentPool: {
		"azureName":           "is owned by spec.name of the AzureManagedMachinePool",
		"count":               "is owned by spec.replicas of the MachinePool, or by AKS's autoscaler while spec.scaling of the AzureManagedMachinePool is set",
		"enableAutoScaling":   "is owned by spec.scaling of the AzureManagedMachinePool: it decides who owns the number of nodes",
		"location":            "is owned by spec.location of the AzureManagedControlPlane",
		"name":                "is owned by spec.name of the AzureManagedMachinePool",
		"orchestratorVersion": "is owned by spec.template.spec.version of the MachinePool",
		"owner":               "is owned by the label cluster.x-k8s.io/cluster-name of the AzureManagedMachinePool",
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
