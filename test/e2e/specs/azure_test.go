//go:build e2e

package specs

import (
	"sigs.k8s.io/cluster-api/test/e2e"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// These specs need pods.

func runNodeDrain(c catalog.Case) {
	e2e.NodeDrainTimeoutSpec(ctx, func() e2e.NodeDrainTimeoutSpecInput {
		return e2e.NodeDrainTimeoutSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}

func runSelfHosted(c catalog.Case) {
	e2e.SelfHostedSpec(ctx, func() e2e.SelfHostedSpecInput {
		return e2e.SelfHostedSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c), SkipUpgrade: true,
		}
	})
}

// runAutoscaler runs the autoscaler in the management cluster, because machines on Azure cannot reach a management cluster of kind.
func runAutoscaler(c catalog.Case) {
	e2e.AutoscalerSpec(ctx, func() e2e.AutoscalerSpecInput {
		return e2e.AutoscalerSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
			InfrastructureMachineTemplateKind: "azuremachinetemplates", AutoscalerVersion: config.MustGetVariable("AUTOSCALER_VERSION"),
			InstallOnManagementCluster: true, ScaleToAndFromZero: true,
		}
	})
}

func runConformance(c catalog.Case) {
	e2e.K8SConformanceSpec(ctx, func() e2e.K8SConformanceSpecInput {
		return e2e.K8SConformanceSpecInput{
			E2EConfig: config, ClusterctlConfigPath: ctlConfig, BootstrapClusterProxy: proxy, ArtifactFolder: *artifacts,
			Flavor: *flavorOf(c), PostNamespaceCreated: prepareNamespace(c), ControlPlaneWaiters: waitersOf(c),
		}
	})
}
