package aso

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"

// property is Azure's name and shape for a key of ASO.
type property struct {
	name  string
	shape valueShape
}

// renamedProperties are all differences in names between ASO's spec and Azure's body, by the property path of the object with ASO's
// key. The tests in test/recordings compare them with ASO's types of the versions v1api20250801 and v20251002preview.
var renamedProperties = map[Kind]map[string]property{
	ManagedCluster: {
		"identity.delegatedResources.*.resourceReference":                                               {"resourceId", referenceShape},
		"properties.apiServerAccessProfile.subnetReference":                                             {"subnetId", referenceShape},
		"properties.azureMonitorProfile.containerInsights.logAnalyticsWorkspaceResourceReference":       {"logAnalyticsWorkspaceResourceId", referenceShape},
		"properties.bootstrapProfile.containerRegistryReference":                                        {"containerRegistryId", referenceShape},
		"properties.creationData.sourceResourceReference":                                               {"sourceResourceId", referenceShape},
		"properties.diskEncryptionSetReference":                                                         {"diskEncryptionSetID", referenceShape},
		"properties.identityProfile.*.clientIdFromConfig":                                               {"clientId", configMapShape},
		"properties.identityProfile.*.objectIdFromConfig":                                               {"objectId", configMapShape},
		"properties.identityProfile.*.resourceReference":                                                {"resourceId", referenceShape},
		"properties.ingressProfile.webAppRouting.dnsZoneResourceReferences":                             {"dnsZoneResourceIds", referenceListShape},
		"properties.networkProfile.loadBalancerProfile.outboundIPPrefixes.publicIPPrefixes[].reference": {"id", referenceShape},
		"properties.networkProfile.loadBalancerProfile.outboundIPs.publicIPs[].reference":               {"id", referenceShape},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.clientIdFromConfig":            {"clientId", configMapShape},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.objectIdFromConfig":            {"objectId", configMapShape},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.resourceReference":             {"resourceId", referenceShape},
		"properties.privateLinkResources[].reference":                                                   {"id", referenceShape},
		"properties.securityProfile.azureKeyVaultKms.keyVaultResourceReference":                         {"keyVaultResourceId", referenceShape},
		"properties.securityProfile.defender.logAnalyticsWorkspaceResourceReference":                    {"logAnalyticsWorkspaceResourceId", referenceShape},
		"properties.securityProfile.defender.securityGating.identities[].identity.clientIdFromConfig":   {"clientId", configMapShape},
		"properties.securityProfile.defender.securityGating.identities[].identity.objectIdFromConfig":   {"objectId", configMapShape},
		"properties.securityProfile.defender.securityGating.identities[].identity.resourceReference":    {"resourceId", referenceShape},
		"properties.serviceMeshProfile.istio.certificateAuthority.plugin.keyVaultReference":             {"keyVaultId", referenceShape},
	},
	AgentPool: {
		"properties.capacityReservationGroupReference":                   {"capacityReservationGroupID", referenceShape},
		"properties.creationData.sourceResourceReference":                {"sourceResourceId", referenceShape},
		"properties.hostGroupReference":                                  {"hostGroupID", referenceShape},
		"properties.networkProfile.applicationSecurityGroupsReferences":  {"applicationSecurityGroups", referenceListShape},
		"properties.nodeCustomizationProfile.nodeCustomizationReference": {"nodeCustomizationId", referenceShape},
		"properties.nodePublicIPPrefixReference":                         {"nodePublicIPPrefixID", referenceShape},
		"properties.podSubnetReference":                                  {"podSubnetID", referenceShape},
		"properties.proximityPlacementGroupReference":                    {"proximityPlacementGroupID", referenceShape},
		"properties.vnetSubnetReference":                                 {"vnetSubnetID", referenceShape},
	},
}

// reshapedProperties are the properties with the same name and another shape in ASO.
var reshapedProperties = map[Kind]map[string]valueShape{
	ManagedCluster: {
		"identity.userAssignedIdentities":           identityMapShape,
		"properties.servicePrincipalProfile.secret": secretShape,
		"properties.windowsProfile.adminPassword":   secretShape,
	},
}

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
