package aso

// rename is the name and shape that Azure has for a key of ASO.
type rename struct {
	name  string
	shape shape
}

// renames are all differences between ASO's spec and Azure's body, by the property path of the object with ASO's key. The tests in
// test/recordings compare them with ASO's types of the versions v1api20250801 and v20251002preview.
var renames = map[Kind]map[string]rename{
	ManagedCluster: {
		"identity.delegatedResources.*.resourceReference":                                               {"resourceId", reference},
		"properties.apiServerAccessProfile.subnetReference":                                             {"subnetId", reference},
		"properties.azureMonitorProfile.containerInsights.logAnalyticsWorkspaceResourceReference":       {"logAnalyticsWorkspaceResourceId", reference},
		"properties.bootstrapProfile.containerRegistryReference":                                        {"containerRegistryId", reference},
		"properties.creationData.sourceResourceReference":                                               {"sourceResourceId", reference},
		"properties.diskEncryptionSetReference":                                                         {"diskEncryptionSetID", reference},
		"properties.identityProfile.*.clientIdFromConfig":                                               {"clientId", configMap},
		"properties.identityProfile.*.objectIdFromConfig":                                               {"objectId", configMap},
		"properties.identityProfile.*.resourceReference":                                                {"resourceId", reference},
		"properties.ingressProfile.webAppRouting.dnsZoneResourceReferences":                             {"dnsZoneResourceIds", references},
		"properties.networkProfile.loadBalancerProfile.outboundIPPrefixes.publicIPPrefixes[].reference": {"id", reference},
		"properties.networkProfile.loadBalancerProfile.outboundIPs.publicIPs[].reference":               {"id", reference},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.clientIdFromConfig":            {"clientId", configMap},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.objectIdFromConfig":            {"objectId", configMap},
		"properties.podIdentityProfile.userAssignedIdentities[].identity.resourceReference":             {"resourceId", reference},
		"properties.privateLinkResources[].reference":                                                   {"id", reference},
		"properties.securityProfile.azureKeyVaultKms.keyVaultResourceReference":                         {"keyVaultResourceId", reference},
		"properties.securityProfile.defender.logAnalyticsWorkspaceResourceReference":                    {"logAnalyticsWorkspaceResourceId", reference},
		"properties.securityProfile.defender.securityGating.identities[].identity.clientIdFromConfig":   {"clientId", configMap},
		"properties.securityProfile.defender.securityGating.identities[].identity.objectIdFromConfig":   {"objectId", configMap},
		"properties.securityProfile.defender.securityGating.identities[].identity.resourceReference":    {"resourceId", reference},
		"properties.serviceMeshProfile.istio.certificateAuthority.plugin.keyVaultReference":             {"keyVaultId", reference},
	},
	AgentPool: {
		"properties.capacityReservationGroupReference":                   {"capacityReservationGroupID", reference},
		"properties.creationData.sourceResourceReference":                {"sourceResourceId", reference},
		"properties.hostGroupReference":                                  {"hostGroupID", reference},
		"properties.networkProfile.applicationSecurityGroupsReferences":  {"applicationSecurityGroups", references},
		"properties.nodeCustomizationProfile.nodeCustomizationReference": {"nodeCustomizationId", reference},
		"properties.nodePublicIPPrefixReference":                         {"nodePublicIPPrefixID", reference},
		"properties.podSubnetReference":                                  {"podSubnetID", reference},
		"properties.proximityPlacementGroupReference":                    {"proximityPlacementGroupID", reference},
		"properties.vnetSubnetReference":                                 {"vnetSubnetID", reference},
	},
}

// shapes are the properties that ASO names as Azure does, and shapes otherwise.
var shapes = map[Kind]map[string]shape{
	ManagedCluster: {
		"identity.userAssignedIdentities":           identities,
		"properties.servicePrincipalProfile.secret": secret,
		"properties.windowsProfile.adminPassword":   secret,
	},
}

// owned are the keys of spec that other fields own, with which ones.
var owned = map[Kind]map[string]string{
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

// resource is the plural of a kind in Azure.
var resource = map[Kind]string{ManagedCluster: "managedClusters", AgentPool: "agentPools"}

// elsewhere is where properties of the other kind are patched.
var elsewhere = map[Kind]string{
	ManagedCluster: "spec.asoManagedClustersAgentPoolPatches of an AzureManagedMachinePool",
	AgentPool:      "spec.asoManagedClusterPatches of the AzureManagedControlPlane",
}

func otherKind(kind Kind) Kind {
	if kind == ManagedCluster {
		return AgentPool
	}
	return ManagedCluster
}
