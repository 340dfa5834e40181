package networks_test

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestFixedAddresses creates private endpoints with fixed addresses, for which Azure requires the group and the member: Azure/bicep#7119.
func TestFixedAddresses(t *testing.T) {
	virtual.Play(t, func(w *virtual.Scenario) {
		endpoint := func(name, service, group, address string) infrav1.PrivateEndpointSpec {
			return infrav1.PrivateEndpointSpec{Name: name, PrivateIPAddresses: []string{address},
				PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{GroupIDs: []string{group},
					PrivateLinkServiceID: string(w.ResourceID("resourceGroups/services/providers/" + service))}}}
		}
		w.ApplyNetwork("c1", func(c *infrav1.AzureCluster) {
			c.Spec.NetworkSpec.Subnets = infrav1.Subnets{
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
				{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode, PrivateEndpoints: infrav1.PrivateEndpoints{
					endpoint("storage", "Microsoft.Storage/storageAccounts/data", "blob", "10.1.0.20"),
					endpoint("secrets", "Microsoft.KeyVault/vaults/secrets", "vault", "10.1.0.21")}}},
			}
		})
		w.WaitReady(&infrav1.AzureCluster{}, "c1")
		for name, want := range map[string]string{"storage": "10.1.0.20", "secrets": "10.1.0.21"} {
			configs, _ := w.FindProperty("Microsoft.Network/privateEndpoints/"+name, "properties.customDnsConfigs").([]any)
			if len(configs) != 1 {
				w.T.Fatalf("%s has the names %v", name, configs)
			}
			if got := configs[0].(body)["ipAddresses"].([]any)[0]; got != want {
				w.T.Errorf("%s has the address %v, want %s", name, got, want)
			}
		}
	})
}
