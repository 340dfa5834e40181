//go:build e2e

package specs

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	ours "sigs.k8s.io/cluster-api-provider-azure/test/e2e/framework"
)

// runManagedQuickStart creates an AKS cluster, and makes the checks of Cluster API's quick start. That spec expects Machines, which a cluster with a
// managed control plane and pools does not have.
func runManagedQuickStart(c catalog.Case) {
	runManaged(c, "Should create a workload cluster", func(input clusterctl.ApplyClusterTemplateAndWaitInput, result *clusterctl.ApplyClusterTemplateAndWaitResult) {
		input.PostMachinesProvisioned = func() {
			checkResilience(c)(proxy, input.ConfigCluster.Namespace, input.ConfigCluster.ClusterName)
		}
		clusterctl.ApplyClusterTemplateAndWait(ctx, input, result)
	})
}

// runManagedUpgrade upgrades the control plane and the pools of an AKS cluster. Cluster API's own spec needs a KubeadmControlPlane.
func runManagedUpgrade(c catalog.Case) {
	runManaged(c, "Should upgrade the control plane and the machine pools", func(input clusterctl.ApplyClusterTemplateAndWaitInput, result *clusterctl.ApplyClusterTemplateAndWaitResult) {
		from, to := config.MustGetVariable("AKS_KUBERNETES_VERSION_UPGRADE_FROM"), config.MustGetVariable("AKS_KUBERNETES_VERSION")
		input.ConfigCluster.KubernetesVersion = from
		clusterctl.ApplyClusterTemplateAndWait(ctx, input, result)
		ours.UpgradeManagedControlPlaneAndWait(ctx, ours.UpgradeManagedControlPlaneAndWaitInput{
			ClusterProxy: proxy, Cluster: result.Cluster, KubernetesUpgradeVersion: to, MachinePools: result.MachinePools,
			WaitForControlPlaneToBeUpgraded: config.GetIntervals(c.Spec, "wait-control-plane-upgrade"),
			WaitForMachinePoolToBeUpgraded:  config.GetIntervals(c.Spec, "wait-machine-pool-upgrade"),
		})
	})
}

// runManaged describes a spec of an AKS cluster that run creates. The cluster has to be available at the end, and is deleted.
func runManaged(c catalog.Case, title string, run func(clusterctl.ApplyClusterTemplateAndWaitInput, *clusterctl.ApplyClusterTemplateAndWaitResult)) {
	var (
		namespace *corev1.Namespace
		stop      context.CancelFunc
		result    *clusterctl.ApplyClusterTemplateAndWaitResult
	)
	BeforeEach(func() {
		namespace, stop = framework.SetupSpecNamespace(ctx, c.Spec, proxy, *artifacts, prepareNamespace(c))
		result = &clusterctl.ApplyClusterTemplateAndWaitResult{}
	})
	It(title, func() {
		input := templateInput(c, c.Spec, namespace.Name)
		input.ConfigCluster.KubernetesVersion = config.MustGetVariable("AKS_KUBERNETES_VERSION")
		run(input, result)
		framework.VerifyClusterAvailable(ctx, framework.VerifyClusterAvailableInput{
			Getter: proxy.GetClient(), Name: result.Cluster.Name, Namespace: namespace.Name,
		})
		By("PASSED!")
	})
	AfterEach(func() {
		Expect(result.Cluster).NotTo(BeNil(), "the namespace could not be created")
		framework.DumpSpecResourcesAndCleanup(ctx, c.Spec, proxy, ctlConfig, *artifacts, namespace, stop, result.Cluster, config.GetIntervals, false)
	})
}
