//go:build e2e

package specs

import (
	"context"
	"os"

	. "github.com/onsi/gomega"

	"sigs.k8s.io/cluster-api/test/e2e"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	ours "sigs.k8s.io/cluster-api-provider-azure/test/e2e/framework"
)

func runQuickStart(c catalog.Case) {
	if c.Family != catalog.SelfManaged {
		runManagedQuickStart(c)
		return
	}
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

// addonsVariable names a file with manifests that make the nodes of a self-managed cluster ready: a network plugin and cloud-provider-azure.
// The lab needs none.
const addonsVariable = "E2E_ADDONS"

// waitersOf returns those of Cluster API for kubeadm, and ours for managed control planes.
func waitersOf(c catalog.Case) clusterctl.ControlPlaneWaiters {
	if c.Family != catalog.SelfManaged {
		return ours.ManagedControlPlaneWaiters()
	}
	file := os.Getenv(addonsVariable)
	if file == "" {
		return clusterctl.ControlPlaneWaiters{}
	}
	return clusterctl.ControlPlaneWaiters{WaitForControlPlaneInitialized: func(ctx context.Context,
		input clusterctl.ApplyCustomClusterTemplateAndWaitInput, result *clusterctl.ApplyCustomClusterTemplateAndWaitResult) {
		result.ControlPlane = framework.DiscoveryAndWaitForControlPlaneInitialized(ctx, framework.DiscoveryAndWaitForControlPlaneInitializedInput{
			Lister: input.ClusterProxy.GetClient(), Cluster: result.Cluster,
		}, input.WaitForControlPlaneIntervals...)
		manifests, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		workload := input.ClusterProxy.GetWorkloadCluster(ctx, result.Cluster.Namespace, result.Cluster.Name)
		Expect(workload.CreateOrUpdate(ctx, manifests)).To(Succeed())
	}}
}
