package migration_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestMigrateAKS migrates every flavor of AKS clusters but those of resource manifests. The class comes with aks-topology.
func TestMigrateAKS(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.TemplateNames(t) {
		if name := flavors.FlavorName(file); !strings.HasPrefix(name, "aks") || name == "aks-clusterclass" || strings.HasPrefix(name, "aks-aso") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			estate.MigrateManaged(t, environment, file, map[string]string{"KUBERNETES_VERSION": harness.ManagedVersion})
		})
	}
}

// TestMigrateASO migrates the flavor of resource manifests that has everything that the others have, with the objects that the Azure Service Operator leaves.
func TestMigrateASO(t *testing.T) {
	t.Parallel()
	estate.MigrateASO(t, environment, "cluster-template-aks-aso-maintenance.yaml", map[string]string{
		"CLUSTER_NAME": "c1", "KUBERNETES_VERSION": harness.ManagedVersion, "AZURE_LOCATION": "eastus",
		"AZURE_NODE_MACHINE_TYPE":    "Standard_D2s_v3",
		"ASO_CREDENTIAL_SECRET_NAME": harness.OperatorSecret,
	})
}
