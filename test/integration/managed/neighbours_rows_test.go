package managed_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// API versions of what goes with a cluster.
const (
	ruleVersion  = "2023-03-11"
	vaultVersion = "2023-07-01"
	gitVersion   = "2024-11-01"
)

// mergedNeighbour is the page whose manifest is merged into that of a flavor.
const mergedNeighbour = "entra-kubernetes-rbac.md"

// neighbours are the pages whose manifests are clusters of documents, and the checks of each page's resources in Azure.
var neighbours = map[string]neighbour{
	"acr-pull": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		checkRoleAssigned(stage, ownGroup+"/providers/Microsoft.ContainerRegistry/registries/myclusterimages",
			"7f951dda-4ed3-4680-a7ca-43fe172d538d",
			readText(stage, ownCluster, clusterVersion, "properties.identityProfile.kubeletidentity.objectId"))
	}},
	"monitoring": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const insights = "/providers/Microsoft.Insights/"
		for association, rule := range map[string]string{"my-cluster-metrics": "my-cluster-metrics",
			"ContainerInsightsExtension": "my-cluster-logs"} {
			compareReferences(stage, "the rule of "+association,
				readText(stage, ownCluster+insights+"dataCollectionRuleAssociations/"+association, ruleVersion, "properties.dataCollectionRuleId"),
				readText(stage, ownGroup+insights+"dataCollectionRules/"+rule, ruleVersion, "id"))
		}
		metrics, logs := ownGroup+insights+"dataCollectionRules/my-cluster-metrics", ownGroup+insights+"dataCollectionRules/my-cluster-logs"
		compareReferences(stage, "where metrics are taken in", readText(stage, metrics, ruleVersion, "properties.dataCollectionEndpointId"),
			readText(stage, ownGroup+insights+"dataCollectionEndpoints/my-cluster-metrics", ruleVersion, "id"))
		compareReferences(stage, "where metrics go",
			readText(stage, metrics, ruleVersion, "properties.destinations.monitoringAccounts.0.accountResourceId"),
			readText(stage, ownGroup+"/providers/Microsoft.Monitor/accounts/my-cluster-metrics", "2023-04-03", "id"))
		workspace := readText(stage, ownGroup+"/providers/Microsoft.OperationalInsights/workspaces/my-cluster", "2023-09-01", "id")
		compareReferences(stage, "where logs go",
			readText(stage, logs, ruleVersion, "properties.destinations.logAnalytics.0.workspaceResourceId"), workspace)
		compareReferences(stage, "where the agent of logs sends",
			readText(stage, ownCluster, clusterVersion, "properties.addonProfiles.omsagent.config.logAnalyticsWorkspaceResourceID"), workspace)
		compareReferences(stage, "the agent of metrics",
			readText(stage, ownCluster, clusterVersion, "properties.azureMonitorProfile.metrics.enabled"), "true")
	}},
	"backup": {given: backupVault, check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		checkRoleAssigned(stage, ownGroup+"/providers/Microsoft.Storage/storageAccounts/myclusterbackups", "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
			readText(stage, ownCluster+"/providers/Microsoft.KubernetesConfiguration/extensions/azure-aks-backup", gitVersion,
				"properties.aksAssignedIdentity.principalId"))
		checkRoleAssigned(stage, ownCluster, "acdd72a7-3385-48ef-bd42-f606fba81ae7", vaultPrincipal)
		checkRoleAssigned(stage, ownGroup, "b24988ac-6180-42a0-ab88-20f7382dd24c", vaultPrincipal)
		compareReferences(stage, "who is trusted",
			readText(stage, ownCluster+"/trustedAccessRoleBindings/my-vault", clusterVersion, "properties.sourceResourceId"),
			fullID(stage, "resourceGroups/backup/providers/Microsoft.DataProtection/backupVaults/my-vault"))
	}},
	"flux": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const git = ownCluster + "/providers/Microsoft.KubernetesConfiguration/"
		compareReferences(stage, "the extension", readText(stage, git+"extensions/flux", gitVersion, "properties.extensionType"),
			"microsoft.flux")
		compareReferences(stage, "the source", readText(stage, git+"fluxConfigurations/apps", gitVersion, "properties.gitRepository.url"),
			"https://github.com/Azure/gitops-flux2-kustomize-helm-mt")
		compareReferences(stage, "the order",
			readText(stage, git+"fluxConfigurations/apps", gitVersion, "properties.kustomizations.staging.dependsOn.0"), "infra")
	}},
	"application-gateway-for-containers": {check: func(stage *harness.Stage, inside []*unstructured.Unstructured) {
		const gateway = ownGroup + "/providers/Microsoft.Network/virtualNetworks/my-cluster/subnets/gateway"
		compareReferences(stage, "the subnet's delegation",
			readText(stage, gateway, networkVersion, "properties.delegations.0.properties.serviceName"),
			"Microsoft.ServiceNetworking/trafficControllers")
		compareReferences(stage, "the controller",
			readText(stage, ownCluster, previewVersion, "properties.ingressProfile.applicationLoadBalancer.enabled"), "true")
		associations, _, _ := unstructured.NestedStringSlice(inside[0].Object, "spec", "associations")
		compareReferences(stage, "the subnet of the gateway", associations[0], readText(stage, gateway, networkVersion, "id"))
	}},
	"private-dns": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const zone = ownGroup + "/providers/Microsoft.Network/privateDnsZones/privatelink.eastus.azmk8s.io"
		compareReferences(stage, "the zone of the API server",
			readText(stage, ownCluster, clusterVersion, "properties.apiServerAccessProfile.privateDNSZone"),
			readText(stage, zone, zoneVersion, "id"))
		compareReferences(stage, "the network that is linked",
			readText(stage, zone+"/virtualNetworkLinks/hub", zoneVersion, "properties.virtualNetwork.id"),
			readText(stage, ownGroup+"/providers/Microsoft.Network/virtualNetworks/my-hub", networkVersion, "id"))
		checkRoleAssigned(stage, zone, "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
			readText(stage, ownGroup+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/my-cluster", identityVersion,
				"properties.principalId"))
	}},
	"maintenance-windows": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const windows = ownCluster + "/maintenanceConfigurations/"
		compareReferences(stage, "releases",
			readText(stage, windows+"default", clusterVersion, "properties.maintenanceWindow.schedule.weekly.dayOfWeek"), "Monday")
		compareReferences(stage, "upgrades", readText(stage, windows+"aksManagedAutoUpgradeSchedule", clusterVersion,
			"properties.maintenanceWindow.schedule.relativeMonthly.weekIndex"), "First")
		compareReferences(stage, "node images",
			readText(stage, windows+"aksManagedNodeOSUpgradeSchedule", clusterVersion, "properties.maintenanceWindow.schedule.daily.intervalDays"),
			"2")
	}},
	"fleet-update-runs": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const fleet = ownGroup + "/providers/Microsoft.ContainerService/fleets/my-fleet"
		compareReferences(stage, "the member", readText(stage, fleet+"/members/my-cluster", fleetVersion, "properties.clusterResourceId"),
			fullID(stage, ownCluster))
		compareReferences(stage, "the strategy", readText(stage, fleet+"/updateRuns/node-images", fleetVersion, "properties.updateStrategyId"),
			fullID(stage, fleet+"/updateStrategies/canary-first"))
		compareReferences(stage, "who is in the run",
			readText(stage, fleet+"/updateRuns/node-images", fleetVersion, "properties.status.stages.0.groups.0.members.0.name"), "my-cluster")
		compareReferences(stage, "the member's group and the first stage's",
			readText(stage, fleet+"/members/my-cluster", fleetVersion, "properties.group"),
			readText(stage, fleet+"/updateStrategies/canary-first", fleetVersion, "properties.strategy.stages.0.groups.0.name"))
	}},
	"workload-identity": {check: func(stage *harness.Stage, inside []*unstructured.Unstructured) {
		const app = ownGroup + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/my-app"
		const credential = app + "/federatedIdentityCredentials/my-app"
		compareReferences(stage, "the issuer", readText(stage, credential, identityVersion, "properties.issuer"),
			readText(stage, ownCluster, clusterVersion, "properties.oidcIssuerProfile.issuerURL"))
		compareReferences(stage, "the subject", readText(stage, credential, identityVersion, "properties.subject"),
			"system:serviceaccount:"+inside[0].GetNamespace()+":"+inside[0].GetName())
		checkRoleAssigned(stage, ownGroup, "acdd72a7-3385-48ef-bd42-f606fba81ae7",
			readText(stage, app, identityVersion, "properties.principalId"))
		madeInside(stage, inside[0])
		account, _, _ := unstructured.NestedString(inside[1].Object, "spec", "serviceAccountName")
		compareReferences(stage, "the pod's account", account, inside[0].GetName())
		unstructured.RemoveNestedField(inside[1].Object, "spec", "serviceAccountName") // It is not there in a dry run.
		madeInside(stage, inside[1])
	}},
	"node-os-upgrades": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		compareReferences(stage, "the channel", readText(stage, ownCluster, clusterVersion, "properties.autoUpgradeProfile.nodeOSUpgradeChannel"),
			"NodeImage")
		compareReferences(stage, "the window",
			readText(stage, ownCluster+"/maintenanceConfigurations/aksManagedNodeOSUpgradeSchedule", clusterVersion,
				"properties.maintenanceWindow.schedule.weekly.dayOfWeek"), "Sunday")
		compareReferences(stage, "the surge",
			readText(stage, ownCluster+"/agentPools/pool0", clusterVersion, "properties.upgradeSettings.maxSurge"), "33%")
	}},
	"kms": {check: func(stage *harness.Stage, _ []*unstructured.Unstructured) {
		const vault = ownGroup + "/providers/Microsoft.KeyVault/vaults/my-cluster-etcd"
		compareReferences(stage, "the cluster's key",
			readText(stage, ownCluster, clusterVersion, "properties.securityProfile.azureKeyVaultKms.keyId"),
			readText(stage, vault+"/keys/etcd", vaultVersion, "properties.keyUriWithVersion"))
		checkRoleAssigned(stage, vault, "12338af0-0e69-4776-bea7-57ae8d297424",
			readText(stage, ownGroup+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/my-cluster", identityVersion,
				"properties.principalId"))
	}},
}

// TestNeighbourInside applies the object for the workload cluster from the page about Entra ID. The page's objects for the provider are
// merged into a flavor and made with the other pages of that kind.
func TestNeighbourInside(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	for _, block := range flavors.PageBlocks(t, flavors.Neighbours, mergedNeighbour) {
		if objects, err := flavors.DecodeManifest([]byte(block.Text)); block.Language == "yaml" && err == nil &&
			objects[0].GetKind() == "RoleBinding" {
			madeInside(stage, objects[0])
			return
		}
	}
	t.Error("the page binds no role")
}
