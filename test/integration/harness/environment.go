package harness

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// assetsVariable names the folder with the programs kube-apiserver and etcd.
const assetsVariable = "KUBEBUILDER_ASSETS"

// Environment is a kube-apiserver with the CRDs of Cluster API and of this provider, and its webhooks. A test package has
// one.
type Environment struct {
	// Config is a configuration for the API server as its administrator.
	Config *rest.Config
	// Client is a client without a cache.
	Client client.WithWatch
	// Logs are the logs of managers and client libraries.
	Logs *Logs

	envtest envtest.Environment
	// managers is a configuration for the API server as the ServiceAccount of the release.
	managers *rest.Config
	// refused are the requests for which managers had no right.
	refused refusals
	// used are the rights that managers made use of.
	used usedRights
	// webhooks is the manager that answers the API server's admission requests.
	webhooks *process

	// second is another management cluster, which is started when a test asks for it.
	second  *Environment
	begun   sync.Once
	failure error
}

// RunTests runs the tests of a package with an environment, which it stores in *environment, and returns the exit code. The
// flags are further ones of the manager that answers admission requests, as feature gates.
func RunTests(m *testing.M, environment **Environment, flags ...string) int {
	e, err := StartEnvironment(flags...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration tests:", err)
		return 1
	}
	*environment = e
	if err := allowParallelTests(); err != nil {
		fmt.Fprintln(os.Stderr, "integration tests:", err)
	}
	code := m.Run()
	if err := errors.Join(e.Stop(), e.refused.asError()); err != nil {
		fmt.Fprintln(os.Stderr, "integration tests:", err)
		return max(code, 1)
	}
	return code
}

// allowParallelTests lets more tests run side by side than there are processors, unless -parallel is set: they mostly wait.
func allowParallelTests() error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(4*goruntime.GOMAXPROCS(0)))
}

// StartEnvironment starts an environment. The flags are further ones of the manager that answers admission requests.
func StartEnvironment(flags ...string) (*Environment, error) {
	return startEnvironment(newLogs(), flags)
}

// startOther is another management cluster.
func (e *Environment) startOther() (*Environment, error) {
	e.begun.Do(func() { e.second, e.failure = startEnvironment(e.Logs, nil) })
	return e.second, e.failure
}

func startEnvironment(logs *Logs, flags []string) (*Environment, error) {
	root, err := ModuleDir("")
	if err != nil {
		return nil, err
	}
	assets := os.Getenv(assetsVariable)
	if assets == "" {
		assets = filepath.Join(root, "bin", "envtest")
	}
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return nil, fmt.Errorf("no %s in %s: run `make envtest`, or set %s to a folder that has it", program, assets, assetsVariable)
		}
	}
	clusterAPI, err := ModuleDir("sigs.k8s.io/cluster-api")
	if err != nil {
		return nil, err
	}

	e := &Environment{Logs: logs}
	ctrl.SetLogger(e.Logs.NewLogger())
	klog.SetLogger(e.Logs.NewLogger())
	// Only the stored versions are used, so the conversion webhooks of Cluster API are not needed.
	e.envtest = NewAPIServer(assets, filepath.Join(root, "config", "crd", "bases"), filepath.Join(clusterAPI, "core", "config", "crd", "bases"))
	serving := &e.envtest.WebhookInstallOptions
	serving.Paths = []string{filepath.Join(root, "config", "webhook", "manifests.yaml")}
	serving.LocalServingHost, serving.LocalServingPort = ownAddress()
	// Some distributions enable this plugin: a request that makes an owner block a deletion needs a right to the owner's finalizers.
	e.envtest.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	tokens, err := newTokens(map[string]string{administrator: "system:masters", ManagerUser: ""})
	if err != nil {
		return nil, err
	}
	defer tokens.removeFile()
	e.envtest.ControlPlane.GetAPIServer().Configure().Append("token-auth-file", tokens.file)
	// All managers of a test program share connections, and have hundreds of watches. At the limit of streams, 100 by default, Go's server
	// refuses a stream now and then, because it counts one as open that the client has seen end: "PROTOCOL_ERROR; received from peer"
	// (golang/go#47635).
	e.envtest.ControlPlane.GetAPIServer().Configure().Append("http2-max-streams-per-connection", "1000")
	if e.Config, err = e.envtest.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("kube-apiserver: %w", err), e.envtest.Stop())
	}
	if e.Client, err = client.NewWithWatch(tokens.configFor(e.Config, administrator), client.Options{Scheme: newScheme()}); err != nil {
		return nil, errors.Join(fmt.Errorf("client: %w", err), e.Stop())
	}
	e.managers = tokens.configFor(e.Config, ManagerUser)
	if err := errors.Join(e.bindRights(root), e.serveWebhooks(flags)); err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// serveWebhooks starts the manager that answers admission requests. It watches an unused namespace.
func (e *Environment) serveWebhooks(flags []string) error {
	serving := e.envtest.WebhookInstallOptions
	options, err := managerFlags("webhooks-only", serving.LocalServingCertDir, flags)
	if err != nil {
		return err
	}
	options.WebhookHost, options.WebhookPort = serving.LocalServingHost, serving.LocalServingPort
	e.webhooks = newProcess()
	e.webhooks.startManager(e.managerConfig(), options)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	return e.webhooks.waitUntilListening(ctx, net.JoinHostPort(serving.LocalServingHost, strconv.Itoa(serving.LocalServingPort)))
}

// RestartWebhooks replaces the manager that answers admission requests by one with these flags, for all tests of the package.
func (e *Environment) RestartWebhooks(flags ...string) error {
	if err := e.webhooks.stopManager(); err != nil {
		return err
	}
	return e.serveWebhooks(flags)
}

// Stop stops everything that Start started.
func (e *Environment) Stop() error {
	var err error
	if e.second != nil {
		err = e.second.Stop()
	}
	if e.webhooks != nil {
		err = errors.Join(err, e.webhooks.stopManager())
	}
	return errors.Join(err, e.envtest.Stop())
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(clusterv1.AddToScheme(scheme))
	utilruntime.Must(infrav1.AddToScheme(scheme))
	return scheme
}

// ModuleDir returns the folder of a module that this one depends on, or with "" of this one.
func ModuleDir(module string) (string, error) {
	arguments := []string{"list", "-m", "-f", "{{.Dir}}"}
	if module != "" {
		arguments = append(arguments, module)
	}
	out, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
