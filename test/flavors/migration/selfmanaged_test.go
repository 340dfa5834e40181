package migration_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors/estate"
)

// TestMigrateSelfManaged migrates every flavor of self-managed clusters. Those with an internal load balancer beside the
// public one need another API server, and are migrated in test/flavors/apiserverilb. The class is applied with topology.
func TestMigrateSelfManaged(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.TemplateNames(t) {
		name := flavors.FlavorName(file)
		if strings.HasPrefix(name, "aks") || name == "clusterclass" || strings.HasSuffix(name, "apiserver-ilb") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			estate.Migrate(t, environment, file, flavors.FlavorVariables[name], gates)
		})
	}
}
