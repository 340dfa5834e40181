package installation_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/installation"
)

// server is an API server without controllers, and the kubeconfig of its administrator.
type server struct {
	t          *testing.T
	kubeconfig string
}

// certManager returns the definition of a kind of cert-manager, of which the release has objects. cert-manager itself does not run.
func certManager(kind, plural string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ` + plural + `.cert-manager.io}
spec:
  group: cert-manager.io
  names: {kind: ` + kind + `, listKind: ` + kind + `List, plural: ` + plural + `}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`
}

func startServer(t *testing.T) *server {
	t.Helper()
	log.SetLogger(logr.Discard())
	// The limits of envtest itself are those of an idle machine.
	environment := &envtest.Environment{
		BinaryAssetsDirectory: filepath.Join(root, "bin", "envtest"), ControlPlaneStartTimeout: 3 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	if _, err := environment.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	s := &server{t: t, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if err := os.WriteFile(s.kubeconfig, environment.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	s.kubectl(certManager("Certificate", "certificates")+"---"+certManager("Issuer", "issuers"), "apply", "-f", "-")
	s.kubectl("", "wait", "--for=condition=Established", "crd", "--all")
	return s
}

// kubectl runs a command of kubectl.
func (s *server) kubectl(input string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(root, "bin", "envtest", "kubectl"), args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "KUBECONFIG="+s.kubeconfig), strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// listPresent returns the keys of those objects that the server has.
func (s *server) listPresent(objects map[string]object) []string {
	s.t.Helper()
	manifest, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": slices.Collect(maps.Values(objects))})
	if err != nil {
		s.t.Fatal(err)
	}
	var list struct {
		Items []object `json:"items"`
	}
	if err := json.Unmarshal([]byte(s.kubectl(string(manifest), "get", "--ignore-not-found", "-f", "-", "-o", "json")), &list); err != nil {
		s.t.Fatal(err)
	}
	var present []string
	for _, o := range list.Items {
		present = append(present, keyOf(o))
	}
	return present
}

// findMissing returns the keys of those objects that the server does not have.
func (s *server) findMissing(objects map[string]object) []string {
	s.t.Helper()
	present := s.listPresent(objects)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(objects)), func(key string) bool { return slices.Contains(present, key) })
}

// newHelm returns Helm's configuration for the server.
func (s *server) newHelm() *action.Configuration {
	s.t.Helper()
	settings := cli.New()
	settings.KubeConfig = s.kubeconfig
	settings.SetNamespace("capz-system")
	configuration := action.NewConfiguration()
	if err := configuration.Init(settings.RESTClientGetter(), "capz-system", "secret"); err != nil {
		s.t.Fatal(err)
	}
	return configuration
}

// newInstall returns the command helm install.
func newInstall(configuration *action.Configuration) *action.Install {
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.WaitStrategy = "capz", "capz-system", true, kube.HookOnlyStrategy
	return install
}

// TestKubectlInstalls applies install.yaml, and applies it again, which changes nothing.
func TestKubectlInstalls(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	components, err := released()
	if err != nil {
		t.Fatal(err)
	}
	manifest, begin := string(installation.WithDefaults(components)), time.Now()
	s.kubectl(manifest, "apply", "--server-side", "-f", "-")
	t.Logf("kubectl apply took %s", time.Since(begin).Round(100*time.Millisecond))
	if missing := s.findMissing(releasedObjects(t, "capz-system")); len(missing) > 0 {
		t.Errorf("missing: %q", missing)
	}
	versions := []string{"get", "crd,deployment,clusterrole,validatingwebhookconfigurations", "-A", "-o", "jsonpath={.items[*].metadata.generation}"}
	before := s.kubectl("", versions...)
	s.kubectl(manifest, "apply", "--server-side", "-f", "-")
	if after := s.kubectl("", versions...); after != before {
		t.Errorf("the second apply changed generations from %s to %s", before, after)
	}
}

// TestHelmInstalls installs the chart with Helm's own code, changes a value, and uninstalls it.
func TestHelmInstalls(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	_, c := newChart(t)
	configuration := s.newHelm()
	begin := time.Now()
	if _, err := newInstall(configuration).RunWithContext(t.Context(), c, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("helm install took %s", time.Since(begin).Round(100*time.Millisecond))
	objects := releasedObjects(t, "capz-system")
	if missing := s.findMissing(objects); len(missing) > 0 {
		t.Errorf("missing after helm install: %q", missing)
	}
	upgrade := action.NewUpgrade(configuration)
	upgrade.Namespace, upgrade.WaitStrategy = "capz-system", kube.HookOnlyStrategy
	if _, err := upgrade.RunWithContext(t.Context(), "capz", c, map[string]any{"replicas": 2}); err != nil {
		t.Fatal(err)
	}
	const replicas = "jsonpath={.spec.replicas}"
	if got := s.kubectl("", "get", "deployment", "capz-controller-manager", "-n", "capz-system", "-o", replicas); got != "2" {
		t.Errorf("helm upgrade left %s replicas, want 2", got)
	}
	uninstall := action.NewUninstall(configuration)
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	if _, err := uninstall.Run("capz"); err != nil {
		t.Fatal(err)
	}
	for _, key := range s.listPresent(objects) {
		if !strings.HasPrefix(key, "CustomResourceDefinition ") && !strings.HasPrefix(key, "Namespace ") {
			t.Errorf("helm uninstall left %s", key)
		}
	}
	if kept := s.kubectl("", "get", "crd", "azureclusters.infrastructure.cluster.x-k8s.io", "-o", "name"); kept == "" {
		t.Error("helm uninstall removed the kinds, and with them the objects of all clusters")
	}
}

// TestHelmAfterClusterctl installs the chart where clusterctl delete left the kinds and the namespace.
func TestHelmAfterClusterctl(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	_, c := newChart(t)
	components, err := released()
	if err != nil {
		t.Fatal(err)
	}
	var kinds strings.Builder
	for document := range strings.SplitSeq(string(installation.WithDefaults(components)), "\n---\n") {
		if strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
			kinds.WriteString(document + "\n---\n")
		}
	}
	s.kubectl(kinds.String(), "apply", "--server-side", "--field-manager", "clusterctl", "-f", "-")
	s.kubectl("", "create", "namespace", "capz-system")
	if _, err := newInstall(s.newHelm()).RunWithContext(t.Context(), c, map[string]any{}); err == nil || !strings.Contains(err.Error(), "ownership") {
		t.Errorf("without --take-ownership: got %v, want an error about the ownership of the kinds", err)
	}
	if out := s.kubectl("", "get", "deployments", "-A", "-o", "name"); out != "" {
		t.Errorf("the refused installation left %s", out)
	}
	install := newInstall(s.newHelm())
	install.TakeOwnership = true
	if _, err := install.RunWithContext(t.Context(), c, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if missing := s.findMissing(releasedObjects(t, "capz-system")); len(missing) > 0 {
		t.Errorf("missing after helm install: %q", missing)
	}
}
