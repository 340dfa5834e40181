package importing

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

const (
	fuzzGroup   = "/subscriptions/s/resourceGroups/g"
	fuzzNetwork = fuzzGroup + "/providers/Microsoft.Network/virtualNetworks/v"
	fuzzNIC     = fuzzGroup + "/providers/Microsoft.Network/networkInterfaces/m-nic"
	fuzzLB      = fuzzGroup + "/providers/Microsoft.Network/loadBalancers/lb"
)

// FuzzWrite checks that no answer of Azure for the resources of a cluster makes the import panic, and that manifests that are written can
// be encoded.
func FuzzWrite(f *testing.F) {
	tags := `"tags":{"sigs.k8s.io_cluster-api-provider-azure_cluster_c1":"owned","sigs.k8s.io_cluster-api-provider-azure_role":"apiserver"}`
	f.Add(`{"location":"eastus",`+tags+`,"properties":{"hardwareProfile":{"vmSize":"Standard_D2s_v3"},"networkProfile":{"networkInterfaces":[{"id":"`+fuzzNIC+`"}]},
		"storageProfile":{"osDisk":{"osType":"Linux"}}}}`,
		`{"location":"eastus",`+tags+`,"properties":{"ipConfigurations":[{"name":"pipConfig","properties":{"subnet":{"id":"`+fuzzNetwork+`/subnets/n"}}}]}}`,
		`{"location":"eastus",`+tags+`,"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]},"subnets":[{"id":"`+fuzzNetwork+`/subnets/n","name":"n",
		"properties":{"addressPrefix":"10.0.0.0/16"}}]}}`,
		`{"location":"eastus",`+tags+`,"properties":{"frontendIPConfigurations":[{"name":"f","properties":{"privateIPAddress":"10.0.0.100"}}],
		"loadBalancingRules":[{"name":"LBRuleHTTPS","properties":{"frontendPort":6443,"backendPort":6443}}]}}`)
	f.Add(`{"properties":{"networkProfile":{"networkInterfaces":[{}]}}}`, `{}`, `null`, `[]`)
	f.Fuzz(func(t *testing.T, vm, nic, network, lb string) {
		estate := Estate{Subscription: "s", Group: "g", Resources: map[string]Resource{}}
		for id, body := range map[arm.ID]string{fuzzGroup + "/providers/Microsoft.Compute/virtualMachines/m": vm, fuzzNIC: nic, fuzzNetwork: network, fuzzLB: lb} {
			estate.Resources[id.Key()] = Resource{ID: id, Body: json.RawMessage(body)}
		}
		for _, cluster := range []string{"", "c1"} {
			written, err := Write(estate, Options{Cluster: cluster, Namespace: "default", OwnerID: "o", EndpointHost: "h", EndpointPort: 1})
			if err != nil {
				continue
			}
			if _, err := written.YAML(); err != nil {
				t.Errorf("the manifests cannot be encoded: %v", err)
			}
		}
	})
}

// TestQuote checks that a shell takes a quoted word as it is.
func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"a/b=c": "a/b=c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := quote(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
}
