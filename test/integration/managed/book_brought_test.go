package managed_test

import (
	"fmt"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// API versions by which the tests play a user of Azure.
const (
	groupVersion      = "2021-04-01"
	networkVersion    = "2024-05-01"
	identityVersion   = "2023-01-31"
	roleVersion       = "2022-04-01"
	zoneVersion       = "2020-06-01"
	clusterVersion    = "2025-10-01"
	previewVersion    = "2025-10-02-preview"
	fleetVersion      = "2025-03-01"
	extensionVersion  = "2023-05-01"
	sharedGroup       = "resourceGroups/shared"
	sharedNetworking  = sharedGroup + "/providers/Microsoft.Network/"
	sharedIdentities  = sharedGroup + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
	networkGroup      = "resourceGroups/shared-network"
	networkGroupTypes = networkGroup + "/providers/Microsoft.Network/"
)

// body is a JSON object.
type body = map[string]any

// bring prepares resources that users bring.
type bring func(*harness.Stage)

// prepareAll prepares several things, in order.
func prepareAll(brought ...bring) bring {
	return func(stage *harness.Stage) {
		for _, one := range brought {
			one(stage)
		}
	}
}

func inShared(path, version string, resource body) bring {
	return func(stage *harness.Stage) {
		stage.Azure.PutResource(sharedGroup, groupVersion, body{"location": "eastus"})
		stage.Azure.PutResource(sharedGroup+"/providers/"+path, version, resource)
	}
}

// createIdentity makes a managed identity.
func createIdentity(name string) bring {
	return inShared("Microsoft.ManagedIdentity/userAssignedIdentities/"+name, identityVersion, body{"location": "eastus"})
}

// createOperator makes a managed identity that has the roles in the group by which AKS's identities do their work.
func createOperator(name string) bring {
	return func(stage *harness.Stage) {
		createIdentity(name)(stage)
		_, made := stage.Azure.GetResource(sharedIdentities+name, identityVersion)
		principal := harness.FindString(made, "properties.principalId")
		for i, role := range []string{
			"f1a07417-d97a-45cb-824c-7a7467783830", // Managed Identity Operator
			"b12aa53e-6015-4669-85d0-8515ebb3ae7f", // Private DNS Zone Contributor
		} {
			assignment := fmt.Sprintf("a0000000-0000-4000-8000-%012d", i)
			stage.Azure.PutResource(sharedGroup+"/providers/Microsoft.Authorization/roleAssignments/"+assignment, roleVersion,
				body{"properties": body{
					"principalId": principal, "principalType": "ServicePrincipal",
					"roleDefinitionId": "/subscriptions/" + stage.Azure.SubscriptionID + "/providers/Microsoft.Authorization/roleDefinitions/" + role,
				}})
		}
	}
}

// publicPrefix makes a public IP prefix.
func publicPrefix(name string) bring {
	return inShared("Microsoft.Network/publicIPPrefixes/"+name, networkVersion, body{
		"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"prefixLength": 28},
	})
}

// publicIP makes a public IP address.
func publicIP(name string) bring {
	return inShared("Microsoft.Network/publicIPAddresses/"+name, networkVersion, body{
		"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{"publicIPAllocationMethod": "Static"},
	})
}

// createNetwork makes the network that several pages bring.
func createNetwork(stage *harness.Stage) {
	stage.Azure.PutNetwork("shared-network", "shared", "10.30.0.0/16", map[string]string{
		"nodes": "10.30.0.0/20", "batch": "10.30.16.0/20", "api-server": "10.30.32.0/28",
	})
}

// createAttached makes something in the group of the network and attaches it to the subnet of the nodes.
func createAttached(property, resource string, made body) bring {
	return func(stage *harness.Stage) {
		stage.Azure.PutResource(networkGroup, groupVersion, body{"location": "eastus"})
		stage.Azure.PutResource(networkGroupTypes+resource, networkVersion, made)
		createNetwork(stage)
		stage.Azure.PutResource(networkGroupTypes+"virtualNetworks/shared/subnets/nodes", networkVersion, body{"properties": body{
			"addressPrefix": "10.30.0.0/20",
			property:        body{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + networkGroupTypes + resource},
		}})
	}
}

// natGateway is on the subnet of the nodes.
var natGateway = prepareAll(publicIP("egress"), func(stage *harness.Stage) {
	createAttached("natGateway", "natGateways/egress", body{"location": "eastus", "sku": body{"name": "Standard"}, "properties": body{
		"publicIpAddresses": []any{body{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + sharedNetworking + "publicIPAddresses/egress"}},
	}})(stage)
})

// firewall is where the default route of the subnet of the nodes leads to.
var firewall = createAttached("routeTable", "routeTables/egress", body{"location": "eastus", "properties": body{"routes": []any{
	body{"name": "default", "properties": body{"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance",
		"nextHopIpAddress": "10.30.64.4"}},
}}})

// zone is a private DNS zone for API servers.
var zone = inShared("Microsoft.Network/privateDnsZones/privatelink.eastus.azmk8s.io", zoneVersion, body{"location": "global"})

// fleet is a fleet without a hub.
var fleet = inShared("Microsoft.ContainerService/fleets/fleet", fleetVersion, body{"location": "eastus", "properties": body{}})

// approve has the owners of services approve the connections of private endpoints.
func approve(stage *harness.Stage) { stage.Meanwhile = stage.Azure.ApproveConnections }

// endpoints is an application security group.
var endpoints = inShared("Microsoft.Network/applicationSecurityGroups/endpoints", networkVersion,
	body{"location": "eastus", "properties": body{}})

// legacy is a cluster as the Azure CLI makes it, in a network that exists before.
var legacy = prepareAll(createOperator("cluster"), createNetwork, func(stage *harness.Stage) {
	stage.Azure.PutResource("resourceGroups/legacy", groupVersion, body{"location": "eastus"})
	pool := func(name, mode string) body {
		return body{
			"name": name, "mode": mode, "count": 2, "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets", "osType": "Linux",
			"orchestratorVersion": "1.33.2",
			"vnetSubnetID":        "/subscriptions/" + stage.Azure.SubscriptionID + "/" + networkGroupTypes + "virtualNetworks/shared/subnets/nodes",
		}
	}
	stage.Azure.PutResource("resourceGroups/legacy/providers/Microsoft.ContainerService/managedClusters/c1", clusterVersion, body{
		"location": "eastus", "tags": body{"team": "legacy"},
		"identity": body{"type": "UserAssigned",
			"userAssignedIdentities": body{"/subscriptions/" + stage.Azure.SubscriptionID + "/" + sharedIdentities + "cluster": body{}}},
		"properties": body{
			"dnsPrefix": "c1-legacy-000000", "kubernetesVersion": "1.33.2", "nodeResourceGroup": "legacy-nodes", "enableRBAC": true,
			"oidcIssuerProfile": body{"enabled": true}, "servicePrincipalProfile": body{"clientId": "msi"},
			"networkProfile": body{
				"networkPlugin": "azure", "networkPluginMode": "overlay", "loadBalancerSku": "standard", "serviceCidr": "10.0.0.0/16",
				"dnsServiceIP": "10.0.0.10",
				"podCidr":      "10.244.0.0/16",
			},
			"agentPoolProfiles": []any{pool("nodepool1", "System"), pool("batch", "User")},
		},
	})
})
