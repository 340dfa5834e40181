package takeover_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestTakeOverAKS takes over every flavor of AKS clusters but those of documents. The class comes with aks-topology.
func TestTakeOverAKS(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.TemplateNames(t) {
		if name := flavorName(file); !strings.HasPrefix(name, "aks") || name == "aks-clusterclass" || strings.HasPrefix(name, "aks-aso") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			estate.TakeOverManaged(t, environment, file, map[string]string{"KUBERNETES_VERSION": harness.ManagedVersion})
		})
	}
}

// TestTakeOverDocuments takes over the flavor of documents that has all that the others have, with what its operator leaves.
func TestTakeOverDocuments(t *testing.T) {
	t.Parallel()
	estate.TakeOverDocuments(t, environment, "cluster-template-aks-aso-maintenance.yaml", map[string]string{
		"CLUSTER_NAME": "c1", "KUBERNETES_VERSION": harness.ManagedVersion, "AZURE_LOCATION": "eastus",
		"AZURE_NODE_MACHINE_TYPE":    "Standard_D2s_v3",
		"ASO_CREDENTIAL_SECRET_NAME": harness.OperatorSecret,
	})
}
