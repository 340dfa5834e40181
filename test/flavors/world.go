package flavors

import (
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// CreateBroughtResources creates the resources that the manifests of the book expect from users, beside Bring's
// identities.
func CreateBroughtResources(stage *harness.Stage) {
	stage.T.Helper()
	stage.Azure.PutNetwork("shared-network", "shared-vnet", "10.0.0.0/8",
		map[string]string{"control-planes": "10.0.0.0/24", "nodes": "10.0.1.0/24"})
	stage.Azure.PutNetwork("hub", "hub-vnet", "172.20.0.0/16", map[string]string{"services": "172.20.0.0/24"})
	for _, group := range []string{"dns", "brought"} {
		stage.Azure.PutResource("resourceGroups/"+group, "2021-04-01", map[string]any{"location": "eastus"})
	}
	stage.Azure.PutResource("resourceGroups/brought/providers/Microsoft.Network/publicIPAddresses/brought-api", "2024-05-01", map[string]any{
		"location": "eastus", "sku": map[string]any{"name": "Standard"},
		"properties": map[string]any{"publicIPAllocationMethod": "Static", "dnsSettings": map[string]any{"domainNameLabel": "brought-api"}},
	})
	stage.Azure.PutResource("resourceGroups/brought/providers/Microsoft.Network/applicationSecurityGroups/clients", "2024-05-01",
		map[string]any{"location": "eastus"})
	createComputeResources(stage)
}

// computeVersion is an API version of Microsoft.Compute that has all of these types.
const computeVersion = "2024-03-01"

// createComputeResources makes what machines refer to: keys, images, reserved capacity and a scale set.
func createComputeResources(stage *harness.Stage) {
	stage.T.Helper()
	put := func(group, path string, more map[string]any) {
		stage.T.Helper()
		body := map[string]any{"location": "eastus"}
		for key, value := range more {
			body[key] = value
		}
		stage.Azure.PutResource("resourceGroups/"+group+"/providers/Microsoft.Compute/"+path, computeVersion, body)
	}
	for _, group := range []string{"keys", "images", "sig", "capacity"} {
		stage.Azure.PutResource("resourceGroups/"+group, "2021-04-01", map[string]any{"location": "eastus"})
	}
	for name, kind := range map[string]string{"nodes": "EncryptionAtRestWithCustomerKey",
		"confidential": "ConfidentialVmEncryptedWithCustomerKey"} {
		put("keys", "diskEncryptionSets/"+name, map[string]any{"properties": map[string]any{
			"encryptionType": kind, "activeKey": map[string]any{"keyUrl": "https://keys.vault.azure.net/keys/" + name + "/1"},
		}})
	}
	image := func(group, gallery, name, version, features string) {
		stage.T.Helper()
		put(group, "galleries/"+gallery+"/images/"+name, map[string]any{"properties": map[string]any{
			"osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2",
			"identifier": map[string]any{"publisher": "us", "offer": "nodes", "sku": name},
			"features":   []any{map[string]any{"name": "SecurityType", "value": features}},
		}})
		put(group, "galleries/"+gallery+"/images/"+name+"/versions/"+version, nil)
	}
	put("images", "galleries/nodes", nil)
	image("images", "nodes", "ubuntu-2404", "1.34.2", "TrustedLaunchSupported")
	image("images", "nodes", "ubuntu-2404-cvm", "1.34.2", "ConfidentialVmSupported")
	put("sig", "galleries/siggallery", nil)
	image("sig", "siggallery", "linuxvm", "0.0.1", "TrustedLaunchSupported")
	put("images", "images/ubuntu-2404-v1.34.2", map[string]any{"properties": map[string]any{
		"hyperVGeneration": "V2", "storageProfile": map[string]any{"osDisk": map[string]any{"osType": "Linux", "osState": "Generalized"}},
	}})
	put("capacity", "capacityReservationGroups/nodes", nil)
	put("capacity", "capacityReservationGroups/nodes/capacityReservations/d2s",
		map[string]any{"sku": map[string]any{"name": "Standard_D2s_v3", "capacity": 2}})
	put("brought", "virtualMachineScaleSets/placement",
		map[string]any{"properties": map[string]any{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}})
}
