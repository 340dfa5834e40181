package types

// Names of the types of AKS, and of extensions of its clusters.
const (
	ManagedCluster   = "Microsoft.ContainerService/managedClusters"
	AgentPool        = "Microsoft.ContainerService/managedClusters/agentPools"
	FleetMember      = "Microsoft.ContainerService/fleets/members"
	ClusterExtension = "Microsoft.KubernetesConfiguration/extensions"
)

// ContainerServiceAPIVersion is the api-version for managed clusters and agent pools, unless another one is requested.
const ContainerServiceAPIVersion = "2025-10-01"

var containerServiceTypes = []Type{
	// A PUT keeps properties that it leaves out, also agent pools. A cluster creates its first pools itself, and ARM refuses writes of
	// it while an operation on it or a pool is running: recordings Test_AKS_ManagedCluster_20250801_CRUD. Microsoft does not document
	// that the list of all resources shows when a cluster is stopped, so each sync reads properties.powerState.
	{Name: ManagedCluster, APIVersion: ContainerServiceAPIVersion, Put: PutPatches, VolatileState: true, Taggable: true,
		SendsIfMatch: true, CreatesTypes: []string{AgentPool}, DeleteRank: 20,
		UsedResources: []string{"properties.agentPoolProfiles[].vnetSubnetID"},
		// ManagedClusterAgentPoolProfile of armcontainerservice has all properties of a pool, and its name.
		EmbeddedChildren: map[string]string{"agentpools": "properties.agentPoolProfiles"},
		WriteOnlyPaths:   []string{"properties.servicePrincipalProfile.secret", "properties.windowsProfile.adminPassword"},
		ReplacedMaps:     []string{"identity.userAssignedIdentities"},
		// AKS returns the zone "System" and the add-on "azurePolicy" in lower case. Names of sizes, groups and hosts are not
		// case-sensitive.
		CaseInsensitivePaths: []string{"properties.agentPoolProfiles[].vmSize", "properties.apiServerAccessProfile.privateDNSZone",
			"properties.dnsPrefix",
			"properties.fqdnSubdomain", "properties.nodeResourceGroup"},
		CaseInsensitiveKeys: []string{"identity.delegatedResources", "identity.userAssignedIdentities", "properties.addonProfiles",
			"properties.addonProfiles.*.config", "properties.identityProfile"}},
	// Labels, taints and tags are exactly those of the last PUT.
	{Name: AgentPool, APIVersion: ContainerServiceAPIVersion, Put: PutPatches, DeletedWithParent: true, DeleteRank: 10,
		ReplacedMaps: []string{"properties.nodeLabels", "properties.tags"}, CaseInsensitivePaths: []string{"properties.vmSize"}},
	{Name: FleetMember, APIVersion: "2024-04-01", DeleteRank: 5, OwnerReferences: []string{"properties.clusterResourceId"},
		MayReferenceForeign: true},
	// The collection belongs to an extension resource, below the cluster. In recordings only the answer to a PUT has the identity, and
	// the type of the other identity is always null: Test_KubernetesConfiguration_Extension_20241101_CRUD.
	{Name: ClusterExtension, APIVersion: "2023-05-01", DeletedWithParent: true, ReadIndividually: true, DeleteRank: 8,
		WriteOnlyPaths: []string{"properties.configurationProtectedSettings", "identity", "properties.aksAssignedIdentity.type"},
		CaseInsensitivePaths: []string{"plan.name", "plan.product", "plan.publisher", "properties.extensionType",
			"properties.releaseTrain"}},
}
