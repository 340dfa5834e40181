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

// runManagedUpgrade upgrades the control plane and the pools of an AKS cluster. Cluster API's own spec needs a KubeadmControlPlane.
func runManagedUpgrade(c catalog.Case) {
	const spec = "managed-upgrade"
	var (
		namespace *corev1.Namespace
		stop      context.CancelFunc
		result    *clusterctl.ApplyClusterTemplateAndWaitResult
	)
	BeforeEach(func() {
		namespace, stop = framework.SetupSpecNamespace(ctx, spec, proxy, *artifacts, prepareNamespace(c))
		result = &clusterctl.ApplyClusterTemplateAndWaitResult{}
	})
	It("Should upgrade the control plane and the machine pools", func() {
		from, to := config.MustGetVariable("AKS_KUBERNETES_VERSION_UPGRADE_FROM"), config.MustGetVariable("AKS_KUBERNETES_VERSION")
		input := templateInput(c, spec, namespace.Name)
		input.ConfigCluster.KubernetesVersion = from
		clusterctl.ApplyClusterTemplateAndWait(ctx, input, result)
		ours.UpgradeManagedControlPlaneAndWait(ctx, ours.UpgradeManagedControlPlaneAndWaitInput{
			ClusterProxy: proxy, Cluster: result.Cluster, KubernetesUpgradeVersion: to, MachinePools: result.MachinePools,
			WaitForControlPlaneToBeUpgraded: config.GetIntervals(spec, "wait-control-plane-upgrade"),
			WaitForMachinePoolToBeUpgraded:  config.GetIntervals(spec, "wait-machine-pool-upgrade"),
		})
		framework.VerifyClusterAvailable(ctx, framework.VerifyClusterAvailableInput{
			Getter: proxy.GetClient(), Name: result.Cluster.Name, Namespace: namespace.Name,
		})
		By("PASSED!")
	})
	AfterEach(func() {
		Expect(result.Cluster).NotTo(BeNil(), "the namespace could not be created")
		framework.DumpSpecResourcesAndCleanup(ctx, spec, proxy, ctlConfig, *artifacts, namespace, stop, result.Cluster, config.GetIntervals, false)
	})
}
