//go:build e2e

// Package specs runs the end-to-end specs of Cluster API, unmodified, with the flavors of this provider. The command in test/e2e starts it
// with a management cluster; it does not start one.
package specs

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/bootstrap"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/repository"
)

var (
	root      = flag.String("e2e.root", "", "source tree with the release and the templates")
	artifacts = flag.String("e2e.artifacts", "", "folder for logs, objects and the repository of clusterctl")
	basePort  = flag.Int("e2e.base-port", 0, "first port of the lab; a second lab of a spec takes ports below it")
	kind      = flag.Bool("e2e.kind", false, "create a management cluster with kind, instead of using that of KUBECONFIG")
)

// What all specs share, in each parallel process.
var (
	ctx       = ctrl.SetupSignalHandler()
	config    *clusterctl.E2EConfig
	ctlConfig string
	proxy     framework.ClusterProxy
)

func TestE2E(t *testing.T) {
	ctrl.SetLogger(klog.Background())
	RegisterFailHandler(Fail)
	// The quick start waits for machine pools with the default, which Cluster API's suite sets to this value in another spec.
	SetDefaultEventuallyTimeout(15 * time.Minute)
	SetDefaultEventuallyPollingInterval(2 * time.Second)
	RunSpecs(t, "e2e")
}

var _ = SynchronizedBeforeSuite(func() []byte {
	loaded := loadConfig()
	By("Writing the repository of clusterctl")
	path := clusterctl.CreateRepository(ctx, clusterctl.CreateRepositoryInput{
		E2EConfig: loaded, RepositoryFolder: filepath.Join(*artifacts, "repository"),
		FileTransformations: repository.Transformations(os.Getenv(azure.RunVariable)),
	})
	kubeconfig := os.Getenv("KUBECONFIG")
	if *kind {
		created := bootstrap.CreateKindBootstrapClusterAndLoadImages(ctx, bootstrap.CreateKindBootstrapClusterAndLoadImagesInput{
			Name: loaded.ManagementClusterName, KubernetesVersion: loaded.MustGetVariable("KUBERNETES_VERSION"), IPFamily: "IPv4",
			LogFolder: filepath.Join(*artifacts, "kind"),
		})
		DeferCleanup(created.Dispose)
		kubeconfig = created.GetKubeconfigPath()
	}
	cluster := framework.NewClusterProxy("bootstrap", kubeconfig, newScheme())
	watches, stop := context.WithCancel(ctx)
	DeferCleanup(stop)
	clusterctl.InitManagementClusterAndWatchControllerLogs(watches, clusterctl.InitManagementClusterAndWatchControllerLogsInput{
		ClusterProxy: cluster, ClusterctlConfigPath: path, InfrastructureProviders: loaded.InfrastructureProviders(),
		LogFolder: filepath.Join(*artifacts, "clusters", cluster.GetName()), DisableMetricsCollection: true,
	}, loaded.GetIntervals(cluster.GetName(), "wait-controllers")...)
	return []byte(path + "\n" + kubeconfig)
}, func(paths []byte) {
	path, kubeconfig, _ := strings.Cut(string(paths), "\n")
	config, ctlConfig = loadConfig(), path
	proxy = framework.NewClusterProxy("bootstrap", kubeconfig, newScheme())
})

// Each spec leaves a report of its own, so that an interrupted run has those of the specs that ended.
var _ = ReportAfterEach(func(report SpecReport) {
	if report.State == types.SpecStateSkipped || report.State == types.SpecStatePending {
		return
	}
	raw, err := json.Marshal([]Report{{SpecReports: types.SpecReports{report}}})
	Expect(err).NotTo(HaveOccurred())
	folder := filepath.Join(*artifacts, "reports")
	Expect(os.MkdirAll(folder, 0o755)).To(Succeed())
	name := strings.ReplaceAll(strings.Join(report.ContainerHierarchyTexts, "-"), " ", "-")
	Expect(os.WriteFile(filepath.Join(folder, name+".json"), raw, 0o644)).To(Succeed())
})

func loadConfig() *clusterctl.E2EConfig {
	loaded, err := repository.LoadConfig(*root)
	Expect(err).NotTo(HaveOccurred())
	return loaded
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	framework.TryAddDefaultSchemes(scheme)
	Expect(infrav1.AddToScheme(scheme)).To(Succeed())
	return scheme
}
