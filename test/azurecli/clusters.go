// Package azurecli has AKS clusters in a simulated Azure as their owners create them with other tools, such as az aks
// create. They are the input of an adoption.
package azurecli

import (
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

type body = map[string]any

// Versions that are spoken to make things.
const (
	groupVersion    = "2021-04-01"
	clusterVersion  = "2025-10-01"
	identityVersion = "2024-11-30"
	roleVersion     = "2022-04-01"
)

// Cluster is an AKS cluster as its owner made it with other tools, in a resource group of its name. No tag is ours.
type Cluster struct {
	// Pools are the properties of its pools, with their names. The first is a system pool.
	Pools []body
	// OmittedValues are the values for which AzureManaged kinds have no field, as the beginnings of lines of the command's output.
	OmittedValues []string
	// Nameless tells that no AzureManagedControlPlane can be called so.
	Nameless bool

	// cluster are properties of the managed cluster, top are the members beside them, and after creates resources below
	// it.
	cluster, top body
	after        func(stage *harness.Stage)
}

func poolBody(name string, properties body) body {
	out := body{"name": name, "mode": "User", "count": 1, "vmSize": "Standard_D2s_v3", "osType": "Linux", "type": "VirtualMachineScaleSets",
		"orchestratorVersion": "1.33.2"}
	for key, value := range properties {
		out[key] = value
	}
	return out
}

var system = body{"mode": "System", "count": 2}

func subnetID(stage *harness.Stage, name string) string {
	return "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/hub/subnets/" + name
}

// ExampleClusters are clusters that differ in what decides how they are taken over, by name.
func ExampleClusters(stage *harness.Stage) map[string]Cluster {
	identityOf := func(name string) string {
		return "/subscriptions/" + stage.Azure.SubscriptionID + "/" + identities + name
	}
	workspace := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/shared/providers/Microsoft.OperationalInsights/workspaces/logs"
	overlay := body{"networkPlugin": "azure", "networkPluginMode": "overlay", "podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16",
		"dnsServiceIP": "10.0.0.10"}
	return map[string]Cluster{
		"kubenet": {
			cluster: body{"networkProfile": body{"networkPlugin": "kubenet"},
				"linuxProfile": body{"adminUsername": "me", "ssh": body{"publicKeys": []any{body{"keyData": harness.SSHKey}}}}},
			Pools: []body{poolBody("nodepool1", system)},
		},
		"overlay": {
			cluster: body{"kubernetesVersion": "1.33", "networkProfile": overlay,
				"autoUpgradeProfile": body{"upgradeChannel": "patch", "nodeOSUpgradeChannel": "SecurityPatch"}},
			Pools: []body{poolBody("nodepool1", body{"mode": "System", "count": 2, "orchestratorVersion": "1.33"}),
				poolBody("batch", body{"orchestratorVersion": "1.33", "osSKU": "AzureLinux", "upgradeSettings": body{"maxSurge": "33%"}})},
		},
		// https://learn.microsoft.com/en-us/azure/aks/configure-static-egress-gateway
		"egress": {
			cluster: body{"networkProfile": body{"networkPlugin": "azure", "staticEgressGatewayProfile": body{"enabled": true}}},
			Pools: []body{poolBody("nodepool1", system),
				poolBody("gateway", body{"mode": "Gateway", "gatewayProfile": body{"publicIPPrefixSize": 30}})},
		},
		"own-network": {
			cluster: body{"networkProfile": body{"networkPlugin": "azure", "networkPolicy": "calico"}, "nodeResourceGroup": "own-nodes"},
			top:     body{"tags": body{"team": "platform"}},
			Pools: []body{
				poolBody("nodepool1", body{"mode": "System", "vnetSubnetID": subnetID(stage, "nodes")}),
				poolBody("batch", body{"vnetSubnetID": subnetID(stage, "batch"), "nodeLabels": body{"team": "blue"},
					"nodeTaints": []any{"only=batch:NoSchedule"}, "tags": body{"cost": "1"}, "availabilityZones": []any{"1", "2"}}),
			},
		},
		"autoscaler": {
			cluster: body{"autoScalerProfile": body{"expander": "least-waste", "scan-interval": "30s"}},
			Pools: []body{poolBody("nodepool1", body{"mode": "System", "enableAutoScaling": true, "minCount": 1, "maxCount": 5}),
				poolBody("still", nil)},
		},
		"spot-and-win": {
			cluster: body{"networkProfile": body{"networkPlugin": "azure"},
				"windowsProfile": body{"adminUsername": "azureuser", "adminPassword": stage.NewSecretValue("windows") + "!A1"}},
			Pools: []body{
				poolBody("nodepool1", system),
				poolBody("spot", body{"scaleSetPriority": "Spot", "spotMaxPrice": -1, "scaleSetEvictionPolicy": "Delete"}),
				poolBody("win", body{"osType": "Windows", "osSKU": "Windows2022"}),
			},
		},
		"private": {
			cluster: body{"apiServerAccessProfile": body{"enablePrivateCluster": true, "enablePrivateClusterPublicFQDN": false}},
			Pools:   []body{poolBody("nodepool1", system)},
		},
		"identities": {
			top:     body{"identity": body{"type": "UserAssigned", "userAssignedIdentities": body{identityOf("cluster"): body{}}}},
			cluster: body{"identityProfile": body{"kubeletidentity": body{"resourceId": identityOf("kubelet")}}},
			Pools:   []body{poolBody("nodepool1", system)},
		},
		"entra": {
			cluster: body{
				"aadProfile": body{"managed": true, "enableAzureRBAC": false,
					"adminGroupObjectIDs": []any{"11111111-1111-4111-8111-111111111111"}},
				"apiServerAccessProfile": body{"authorizedIPRanges": []any{"203.0.113.0/24", "198.51.100.7/32"}},
			},
			Pools: []body{poolBody("nodepool1", system)},
		},
		"addons": {
			cluster: body{
				"addonProfiles": body{"azurepolicy": body{"enabled": true},
					"omsagent":               body{"enabled": true, "config": body{"logAnalyticsWorkspaceResourceID": workspace}},
					"httpApplicationRouting": body{"enabled": false}},
				"oidcIssuerProfile": body{"enabled": true},
				"securityProfile":   body{"workloadIdentity": body{"enabled": true}, "imageCleaner": body{"enabled": true, "intervalHours": 48}},
				"storageProfile":    body{"blobCSIDriver": body{"enabled": true}, "fileCSIDriver": body{"enabled": false}},
			},
			Pools: []body{poolBody("nodepool1",
				body{"mode": "System", "count": 3, "kubeletConfig": body{"cpuManagerPolicy": "static", "podMaxPids": 500},
					"linuxOSConfig": body{"sysctls": body{"vmMaxMapCount": 262144}}, "osDiskSizeGB": 200, "maxPods": 60})},
			after: func(stage *harness.Stage) {
				at := "resourceGroups/addons/providers/Microsoft.ContainerService/managedClusters/addons/providers/Microsoft.KubernetesConfiguration/extensions/flux"
				stage.Azure.PutResource(at, "2023-05-01", body{"properties": body{
					"extensionType": "microsoft.flux", "autoUpgradeMinorVersion": true, "releaseTrain": "Stable",
					"configurationSettings": body{"helm-controller.enabled": "true"},
					"scope":                 body{"cluster": body{"releaseNamespace": "flux-system"}},
				}})
			},
		},
		"maintenance": {
			cluster: body{},
			Pools:   []body{poolBody("nodepool1", system)},
			after: func(stage *harness.Stage) {
				at := "resourceGroups/maintenance/providers/Microsoft.ContainerService/managedClusters/maintenance/maintenanceConfigurations/"
				stage.Azure.PutResource(at+"aksManagedAutoUpgradeSchedule", clusterVersion, body{"properties": body{"maintenanceWindow": body{
					"durationHours": 4, "startTime": "02:00", "utcOffset": "+00:00",
					"schedule": body{"weekly": body{"dayOfWeek": "Sunday", "intervalWeeks": 1}},
				}}})
				stage.Azure.PutResource(at+"default", clusterVersion,
					body{"properties": body{"timeInWeek": []any{body{"day": "Monday", "hourSlots": []any{1, 2}}}}})
			},
			OmittedValues: []string{"maintenanceConfigurations/aksManagedAutoUpgradeSchedule: AzureManaged kinds have no field",
				"maintenanceConfigurations/default: AzureManaged kinds have no field"},
		},
		"nat-gateway": {
			cluster: body{"networkProfile": body{"networkPlugin": "azure", "networkPluginMode": "overlay", "outboundType": "managedNATGateway",
				"natGatewayProfile": body{"managedOutboundIPProfile": body{"count": 2}, "idleTimeoutInMinutes": 10}}},
			top:   body{"sku": body{"name": "Base", "tier": "Standard"}},
			Pools: []body{poolBody("nodepool1", system)},
		},
		"service-principal": {
			cluster: body{"servicePrincipalProfile": body{"clientId": stage.Azure.ClientID, "secret": stage.Azure.ClientSecret},
				"enableRBAC": false},
			top:   body{"identity": nil},
			Pools: []body{poolBody("nodepool1", system)},
		},
		"Legacy_1": {
			cluster:  body{},
			Pools:    []body{poolBody("nodepool1", system)},
			Nameless: true,
		},
	}
}

// CreateCluster makes the cluster.
func (c Cluster) CreateCluster(stage *harness.Stage, name string) {
	stage.T.Helper()
	stage.Azure.PutResource("resourceGroups/"+name, groupVersion, body{"location": "eastus"})
	properties := body{"kubernetesVersion": "1.33.2"}
	for key, value := range c.cluster {
		properties[key] = value
	}
	var pools []any
	for _, pool := range c.Pools {
		pools = append(pools, pool)
	}
	properties["agentPoolProfiles"] = pools
	document := body{"location": "eastus", "identity": body{"type": "SystemAssigned"}, "properties": properties}
	for key, value := range c.top {
		document[key] = value
	}
	stage.Azure.PutResource("resourceGroups/"+name+"/providers/Microsoft.ContainerService/managedClusters/"+name, clusterVersion, document)
	if c.after != nil {
		c.after(stage)
	}
}

// CreatePrerequisites creates the resources that the clusters need: a network, and identities of which one may assign
// the other.
func CreatePrerequisites(stage *harness.Stage) {
	stage.T.Helper()
	stage.Azure.PutNetwork("shared", "hub", "10.0.0.0/8", map[string]string{"nodes": "10.240.0.0/16", "batch": "10.241.0.0/16"})
	for _, name := range []string{"cluster", "kubelet"} {
		stage.Azure.PutResource(identities+name, identityVersion, body{"location": "eastus"})
	}
	_, operator := stage.Azure.GetResource(identities+"cluster", identityVersion)
	const managedIdentityOperator = "f1a07417-d97a-45cb-824c-7a7467783830"
	stage.Azure.PutResource("resourceGroups/shared/providers/Microsoft.Authorization/roleAssignments/a0000000-0000-4000-8000-000000000001",
		roleVersion, body{"properties": body{
			"principalId": harness.FindString(operator, "properties.principalId"), "principalType": "ServicePrincipal",
			"roleDefinitionId": "/subscriptions/" + stage.Azure.SubscriptionID + "/providers/Microsoft.Authorization/roleDefinitions/" + managedIdentityOperator,
		}})
}

const identities = "resourceGroups/shared/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
