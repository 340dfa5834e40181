//go:build e2e

package specs

import (
	"fmt"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"context"

	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/cluster-api/util"

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
		one := int64(1)
		clusterctl.ApplyClusterTemplateAndWait(ctx, clusterctl.ApplyClusterTemplateAndWaitInput{
			ClusterProxy: proxy,
			ConfigCluster: clusterctl.ConfigClusterInput{
				LogFolder:            filepath.Join(*artifacts, "clusters", proxy.GetName()),
				ClusterctlConfigPath: ctlConfig, KubeconfigPath: proxy.GetKubeconfigPath(), InfrastructureProvider: clusterctl.DefaultInfrastructureProvider,
				Flavor: *flavorOf(c), Namespace: namespace.Name, ClusterName: fmt.Sprintf("%s-%s", spec, util.RandomString(6)),
				KubernetesVersion: from, ControlPlaneMachineCount: &one, WorkerMachineCount: &one,
			},
			ControlPlaneWaiters:          waitersOf(c),
			WaitForClusterIntervals:      config.GetIntervals(spec, "wait-cluster"),
			WaitForControlPlaneIntervals: config.GetIntervals(spec, "wait-control-plane"),
			WaitForMachinePools:          config.GetIntervals(spec, "wait-machine-pool-nodes"),
		}, result)
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
