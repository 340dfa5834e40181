package crd_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// TestWithoutWebhooks applies manifests of projects that install the CRDs and the manager, but no webhooks. The schema validates them
// without defaults.
func TestWithoutWebhooks(t *testing.T) {
	// defaulted is a field that the webhook fills in.
	shapes := map[string]struct{ reason, plural, defaulted, manifest string }{
		"identity without kind": {"HyperShift names the identity and its namespace only", "azureclusters", "azureEnvironment", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: hosted, namespace: default, annotations: {cluster.x-k8s.io/managed-by: external}}
spec:
  location: westeurope
  resourceGroup: hosted
  subscriptionID: s
  identityRef: {name: identity, namespace: default}
  networkSpec: {vnet: {id: /subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/shared, resourceGroup: net}}
`},
		"names by default": {"every name in the network has a default", "azureclusters", "azureEnvironment", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureCluster
metadata: {name: unnamed-parts, namespace: default}
spec:
  location: westeurope
  subscriptionID: s
  identityRef: {name: identity}
  networkSpec:
    vnet: {cidrBlocks: [10.0.0.0/16]}
    subnets:
    - name: control-planes
      role: control-plane
      securityGroup: {securityRules: [{name: in, description: d, protocol: Tcp, priority: 100, destinationPorts: "443"}]}
    - {name: nodes, role: node, natGateway: {zones: ["1"]}, routeTable: {}}
`},
		"AKS": {"the names of group and network follow from the Cluster", "azuremanagedcontrolplanes", "dnsPrefix", `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureManagedControlPlane
metadata: {name: unnamed-aks, namespace: default, labels: {cluster.x-k8s.io/cluster-name: unnamed-aks}}
spec:
  location: westeurope
  subscriptionID: s
  version: v1.33.2
  identityRef: {name: identity, namespace: default}
  virtualNetwork: {cidrBlock: 10.0.0.0/8, subnet: {cidrBlock: 10.1.0.0/16}}
`},
	}
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			obj := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(shape.manifest), &obj.Object); err != nil {
				t.Fatal(err)
			}
			withoutWebhooks(t, shape.plural, func() {
				waitFor(t, shape.reason, func() error {
					attempt := obj.DeepCopy()
					if err := environment.Client.Create(t.Context(), attempt, client.DryRunAll); err != nil {
						return err
					}
					if value, filled, _ := unstructured.NestedString(attempt.Object, "spec", shape.defaulted); filled {
						return fmt.Errorf("the webhook is still asked: %s is %s", shape.defaulted, value)
					}
					return nil
				})
			})
		})
	}
}
