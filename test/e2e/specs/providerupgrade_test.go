//go:build e2e

package specs

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/repository"
)

// releaseBefore is the release that the upgrade begins with: the components of a commit, which lab/scenario keeps.
const releaseBefore = "v2.0.0-alpha.0"

// runProviderUpgrade upgrades the provider below a running cluster. Cluster API's own spec creates its management cluster with kind.
func runProviderUpgrade(c catalog.Case) {
	const spec = "clusterctl-upgrade"
	var (
		namespace *corev1.Namespace
		stop      context.CancelFunc
		result    *clusterctl.ApplyClusterTemplateAndWaitResult
		old       framework.ClusterProxy
	)
	BeforeEach(func() { result = &clusterctl.ApplyClusterTemplateAndWaitResult{} })
	It("Should upgrade the provider without new machines", func() {
		second := startSecondLab(spec, "--release", unpackRelease())
		old = second.proxy(spec)
		namespace, stop = framework.SetupSpecNamespace(ctx, spec, old, *artifacts, prepareNamespace(c))
		// The templates are those of this release: objects of users have not changed.
		input := templateInput(c, spec, namespace.Name)
		input.ClusterProxy = old
		clusterctl.ApplyClusterTemplateAndWait(ctx, input, result)
		before := machineNames(old, namespace.Name)

		clusterctl.UpgradeManagementClusterAndWait(ctx, clusterctl.UpgradeManagementClusterAndWaitInput{
			ClusterProxy: old, ClusterctlConfigPath: second.clusterctlConfig(), InfrastructureProviders: []string{"azure:" + repository.ProviderVersion},
			LogFolder: filepath.Join(*artifacts, "clusters", spec),
		}, config.GetIntervals(spec, "wait-controllers")...)
		framework.ScaleAndWaitMachineDeployment(ctx, framework.ScaleAndWaitMachineDeploymentInput{
			ClusterProxy: old, Cluster: result.Cluster, MachineDeployment: result.MachineDeployments[0], Replicas: 2,
			WaitForMachineDeployments: config.GetIntervals(spec, "wait-worker-nodes"),
		})
		framework.VerifyClusterAvailable(ctx, framework.VerifyClusterAvailableInput{Getter: old.GetClient(), Name: result.Cluster.Name, Namespace: namespace.Name})
		for _, name := range before {
			Expect(machineNames(old, namespace.Name)).To(ContainElement(name), "Machines must not be replaced by an upgrade of the provider")
		}
		checkResilience(c)(old, namespace.Name, result.Cluster.Name)
		By("PASSED!")
	})
	AfterEach(func() {
		if namespace != nil {
			framework.DumpSpecResourcesAndCleanup(ctx, spec, old, ctlConfig, *artifacts, namespace, stop, result.Cluster, config.GetIntervals, false)
		}
	})
}

// unpackRelease returns a folder with the components of the release before. The lab runs the program of this release with them, so they get
// the kinds and the rights that this program cannot do without.
func unpackRelease() string {
	releases := filepath.Join(*root, "lab", "scenario", "testdata", "releases")
	folder := filepath.Join(GinkgoT().TempDir(), releaseBefore)
	Expect(os.CopyFS(folder, os.DirFS(filepath.Join(releases, releaseBefore)))).To(Succeed())
	packed, err := os.Open(filepath.Join(folder, "infrastructure-components.yaml.gz"))
	Expect(err).NotTo(HaveOccurred())
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	Expect(err).NotTo(HaveOccurred())
	components, err := io.ReadAll(reader)
	Expect(err).NotTo(HaveOccurred())
	kinds := filepath.Join(*root, "config", "crd", "bases", "infrastructure.cluster.x-k8s.io_")
	for _, file := range []string{kinds + "azuremachinepools.yaml", kinds + "azuremachinepoolmachines.yaml", filepath.Join(releases, "newer-rights.yaml")} {
		more, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		components = slices.Concat(components, []byte("\n---\n"), more)
	}
	Expect(os.WriteFile(filepath.Join(folder, "infrastructure-components.yaml"), components, 0o644)).To(Succeed())
	return folder
}
