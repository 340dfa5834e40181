//go:build e2e

package specs

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// runMove moves a cluster to a second management cluster. Cluster API's own spec moves it into the workload cluster, which needs pods.
func runMove(c catalog.Case) {
	const spec = "move"
	var (
		namespace *corev1.Namespace
		stop      context.CancelFunc
		result    *clusterctl.ApplyClusterTemplateAndWaitResult
		owner     framework.ClusterProxy // of the cluster
	)
	BeforeEach(func() {
		namespace, stop = framework.SetupSpecNamespace(ctx, spec, proxy, *artifacts, prepareNamespace(c))
		result, owner = &clusterctl.ApplyClusterTemplateAndWaitResult{}, proxy
	})
	It("Should move a cluster without new machines", func() {
		second := startSecondLab(spec)
		clusterctl.ApplyClusterTemplateAndWait(ctx, templateInput(c, spec, namespace.Name), result)
		before := machineNames(proxy, namespace.Name)

		clusterctl.Move(ctx, clusterctl.MoveInput{
			LogFolder: filepath.Join(*artifacts, "clusters", spec), ClusterctlConfigPath: ctlConfig, Namespace: namespace.Name,
			FromKubeconfigPath: proxy.GetKubeconfigPath(), ToKubeconfigPath: second.kubeconfig(),
		})
		owner = second.proxy(spec)
		cluster := framework.DiscoveryAndWaitForCluster(ctx, framework.DiscoveryAndWaitForClusterInput{
			Getter: owner.GetClient(), Namespace: namespace.Name, Name: result.Cluster.Name,
		}, config.GetIntervals(spec, "wait-cluster")...)
		framework.VerifyClusterAvailable(ctx, framework.VerifyClusterAvailableInput{Getter: owner.GetClient(), Name: cluster.Name, Namespace: namespace.Name})
		// AKS clusters have no Machines.
		if c.Family == catalog.SelfManaged {
			framework.VerifyMachinesReady(ctx, framework.VerifyMachinesReadyInput{Lister: owner.GetClient(), Name: cluster.Name, Namespace: namespace.Name})
		}
		Expect(machineNames(owner, namespace.Name)).To(Equal(before), "Machines must not be replaced by a move")
		checkResilience(c)(owner, namespace.Name, cluster.Name)
		By("PASSED!")
	})
	AfterEach(func() {
		framework.DumpSpecResourcesAndCleanup(ctx, spec, owner, ctlConfig, *artifacts, namespace, stop, result.Cluster, config.GetIntervals, false)
		framework.DeleteNamespace(ctx, framework.DeleteNamespaceInput{Deleter: proxy.GetClient(), Name: namespace.Name})
	})
}

// templateInput creates a cluster with one machine of each kind.
func templateInput(c catalog.Case, spec, namespace string) clusterctl.ApplyClusterTemplateAndWaitInput {
	one := int64(1)
	return clusterctl.ApplyClusterTemplateAndWaitInput{
		ClusterProxy: proxy,
		ConfigCluster: clusterctl.ConfigClusterInput{
			LogFolder:            filepath.Join(*artifacts, "clusters", proxy.GetName()),
			ClusterctlConfigPath: ctlConfig, KubeconfigPath: proxy.GetKubeconfigPath(), InfrastructureProvider: clusterctl.DefaultInfrastructureProvider,
			Flavor: *flavorOf(c), Namespace: namespace, ClusterName: fmt.Sprintf("%s-%s", spec, util.RandomString(6)),
			KubernetesVersion: config.MustGetVariable("KUBERNETES_VERSION"), ControlPlaneMachineCount: &one, WorkerMachineCount: &one,
		},
		ControlPlaneWaiters:          waitersOf(c),
		WaitForClusterIntervals:      config.GetIntervals(spec, "wait-cluster"),
		WaitForControlPlaneIntervals: config.GetIntervals(spec, "wait-control-plane"),
		WaitForMachineDeployments:    config.GetIntervals(spec, "wait-worker-nodes"),
		WaitForMachinePools:          config.GetIntervals(spec, "wait-machine-pool-nodes"),
	}
}

func machineNames(management framework.ClusterProxy, namespace string) []string {
	machines := &clusterv1.MachineList{}
	Expect(management.GetClient().List(ctx, machines, client.InNamespace(namespace))).To(Succeed())
	var names []string
	for i := range machines.Items {
		names = append(names, machines.Items[i].Name)
	}
	slices.Sort(names)
	return names
}
