package flavors

import (
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// World makes what the manifests of the book bring, beside Bring's identities.
func World(stage *harness.Stage) {
	stage.T.Helper()
	stage.Azure.PutNetwork("shared-network", "shared-vnet", "10.0.0.0/8", map[string]string{"control-planes": "10.0.0.0/24", "nodes": "10.0.1.0/24"})
	stage.Azure.PutNetwork("hub", "hub-vnet", "172.20.0.0/16", map[string]string{"services": "172.20.0.0/24"})
	for _, group := range []string{"dns", "brought"} {
		stage.Azure.Put("resourceGroups/"+group, "2021-04-01", map[string]any{"location": "eastus"})
	}
	stage.Azure.Put("resourceGroups/brought/providers/Microsoft.Network/publicIPAddresses/brought-api", "2024-05-01", map[string]any{
		"location": "eastus", "sku": map[string]any{"name": "Standard"},
		"properties": map[string]any{"publicIPAllocationMethod": "Static", "dnsSettings": map[string]any{"domainNameLabel": "brought-api"}},
	})
	stage.Azure.Put("resourceGroups/brought/providers/Microsoft.Network/applicationSecurityGroups/clients", "2024-05-01", map[string]any{"location": "eastus"})
}
