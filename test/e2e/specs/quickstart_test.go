//go:build e2e

package specs

import (
	"sigs.k8s.io/cluster-api/test/e2e"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	ours "sigs.k8s.io/cluster-api-provider-azure/test/e2e/framework"
)

func runQuickStart(c catalog.Case) {
	e2e.QuickStartSpec(ctx, func() e2e.QuickStartSpecInput {
		return e2e.QuickStartSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), PostMachinesProvisioned: checkResilience(c),
			ControlPlaneWaiters: waitersOf(c),
		}
	})
}

// flavorOf returns the name that clusterctl has for the flavor.
func flavorOf(c catalog.Case) *string {
	flavor := c.Flavor
	if flavor == "default" {
		flavor = ""
	}
	return &flavor
}

// waitersOf returns those of Cluster API for kubeadm, and ours for managed control planes.
func waitersOf(c catalog.Case) clusterctl.ControlPlaneWaiters {
	if c.Family == catalog.SelfManaged {
		return clusterctl.ControlPlaneWaiters{}
	}
	return ours.ManagedControlPlaneWaiters()
}
