//go:build e2e

package specs

import (
	"sigs.k8s.io/cluster-api/test/e2e"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

func runMachineDeploymentScale(c catalog.Case) {
	e2e.MachineDeploymentScaleSpec(ctx, func() e2e.MachineDeploymentScaleSpecInput {
		return e2e.MachineDeploymentScaleSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}

func runRollout(c catalog.Case) {
	e2e.KCPAndMachineDeploymentRolloutSpec(ctx, func() e2e.KCPAndMachineDeploymentRolloutSpecInput {
		return e2e.KCPAndMachineDeploymentRolloutSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}

func runRemediation(c catalog.Case) {
	e2e.MachineDeploymentRemediationSpec(ctx, func() e2e.MachineDeploymentRemediationSpecInput {
		return e2e.MachineDeploymentRemediationSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}

func runAdoption(c catalog.Case) {
	e2e.KCPAdoptionSpec(ctx, func() e2e.KCPAdoptionSpecInput {
		return e2e.KCPAdoptionSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c),
		}
	})
}

func runMachinePool(c catalog.Case) {
	e2e.MachinePoolSpec(ctx, func() e2e.MachinePoolInput {
		return e2e.MachinePoolInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}
