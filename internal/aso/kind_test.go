package aso

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestKindsOfTheBookHaveTypes finds the resource types of the kinds in the book, by the names of ASO.
func TestKindsOfTheBookHaveTypes(t *testing.T) {
	for kind, want := range map[string]string{
		"resources.azure.com/ResourceGroup":                      "Microsoft.Resources/resourceGroups",
		"containerservice.azure.com/ManagedCluster":              types.ManagedCluster,
		"containerservice.azure.com/ManagedClustersAgentPool":    types.AgentPool,
		"containerservice.azure.com/MaintenanceConfiguration":    types.ManagedCluster + "/maintenanceConfigurations",
		"containerservice.azure.com/TrustedAccessRoleBinding":    types.ManagedCluster + "/trustedAccessRoleBindings",
		"containerservice.azure.com/Snapshot":                    "Microsoft.ContainerService/snapshots",
		"containerservice.azure.com/Fleet":                       "Microsoft.ContainerService/fleets",
		"containerservice.azure.com/FleetsMember":                types.FleetMember,
		"containerservice.azure.com/FleetsUpdateRun":             "Microsoft.ContainerService/fleets/updateRuns",
		"containerservice.azure.com/FleetsUpdateStrategy":        "Microsoft.ContainerService/fleets/updateStrategies",
		"kubernetesconfiguration.azure.com/Extension":            types.ClusterExtension,
		"kubernetesconfiguration.azure.com/FluxConfiguration":    "Microsoft.KubernetesConfiguration/fluxConfigurations",
		"network.azure.com/VirtualNetwork":                       types.VirtualNetwork,
		"network.azure.com/VirtualNetworksSubnet":                types.Subnet,
		"network.azure.com/VirtualNetworksVirtualNetworkPeering": types.VirtualNetworkPeering,
		"network.azure.com/NatGateway":                           types.NATGateway,
		"network.azure.com/PublicIPAddress":                      types.PublicIPAddress,
		"network.azure.com/PublicIPPrefix":                       "Microsoft.Network/publicIPPrefixes",
		"network.azure.com/NetworkSecurityGroup":                 types.NetworkSecurityGroup,
		"network.azure.com/NetworkSecurityGroupsSecurityRule":    types.SecurityRule,
		"network.azure.com/RouteTable":                           types.RouteTable,
		"network.azure.com/RouteTablesRoute":                     types.Route,
		"network.azure.com/PrivateEndpoint":                      types.PrivateEndpoint,
		"network.azure.com/PrivateEndpointsPrivateDnsZoneGroup":  types.PrivateEndpoint + "/privateDnsZoneGroups",
		"network.azure.com/PrivateDnsZone":                       "Microsoft.Network/privateDnsZones",
		"network.azure.com/PrivateDnsZonesVirtualNetworkLink":    "Microsoft.Network/privateDnsZones/virtualNetworkLinks",
		"network.azure.com/PrivateDnsZonesARecord":               "Microsoft.Network/privateDnsZones/A",
		"network.azure.com/BastionHost":                          types.BastionHost,
		"network.azure.com/LoadBalancer":                         types.LoadBalancer,
		"managedidentity.azure.com/UserAssignedIdentity":         types.UserAssignedIdentity,
		"managedidentity.azure.com/FederatedIdentityCredential":  types.UserAssignedIdentity + "/federatedIdentityCredentials",
		"authorization.azure.com/RoleAssignment":                 types.RoleAssignment,
		"containerregistry.azure.com/Registry":                   "Microsoft.ContainerRegistry/registries",
		"keyvault.azure.com/Vault":                               "Microsoft.KeyVault/vaults",
		"operationalinsights.azure.com/Workspace":                "Microsoft.OperationalInsights/workspaces",
		"insights.azure.com/DataCollectionRule":                  "Microsoft.Insights/dataCollectionRules",
		"insights.azure.com/DataCollectionEndpoint":              "Microsoft.Insights/dataCollectionEndpoints",
		"insights.azure.com/DataCollectionRuleAssociation":       "Microsoft.Insights/dataCollectionRuleAssociations",
		"monitor.azure.com/Account":                              "Microsoft.Monitor/accounts",
		"storage.azure.com/StorageAccount":                       "Microsoft.Storage/storageAccounts",
		"compute.azure.com/DiskEncryptionSet":                    "Microsoft.Compute/diskEncryptionSets",
	} {
		of, name, _ := strings.Cut(kind, "/")
		if got, ok := ResourceTypeOf(of, name); !ok || got != want {
			t.Errorf("%s is %q, want %s", kind, got, want)
		}
	}
}

// TestTypesAndKindsMatch leads from every resource type of the definitions to its kind and back, and to its row in the table of types.
func TestTypesAndKindsMatch(t *testing.T) {
	for _, full := range schema.ResourceTypes() {
		of, name := GroupKindOf(full)
		if got, _ := ResourceTypeOf(of, name); got != full {
			t.Errorf("%s is called %s/%s, which is %q", full, of, name, got)
		}
		id := arm.ID("/subscriptions/s/resourceGroups/g/providers/" + strings.Split(full, "/")[0])
		for segment := range strings.SplitSeq(strings.SplitN(full, "/", 2)[1], "/") {
			id = arm.ID(string(id) + "/" + segment + "/n")
		}
		if row, err := types.ForID(id); err != nil || !strings.EqualFold(row.Name, full) {
			t.Errorf("%s has the row %q: %v", full, row.Name, err)
		}
	}
}

func TestVersionsOfKinds(t *testing.T) {
	for version, want := range map[string]string{
		"v1api20250801": "2025-08-01", "v20251001": "2025-10-01", "v1api20251002preview": "2025-10-02-preview",
		"v20251002preview": "2025-10-02-preview",
		"v1beta20210501":   "2021-05-01", "v1": "", "v1api2025": "", "v1api20250801storage": "",
	} {
		if got, ok := ToAPIVersion(version); got != want || ok != (want != "") {
			t.Errorf("%s is %q, want %q", version, got, want)
		}
	}
}
