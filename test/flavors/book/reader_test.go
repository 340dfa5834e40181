package book_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// reader has what readers of the pages have: a management cluster, the files of a release, and objects.
type reader struct {
	// namespace is that of kubeconfig. Each page has its own.
	root, home, namespace string
	// kubectlPath is the path of the program kubectl.
	kubectlPath string
	// kubeconfig is the text of that of the API server, which stands for management and workload clusters.
	kubeconfig string
	// configuration is the file of clusterctl's, with this repository's templates as the release.
	configuration string
	// objects are by kind and name, and by kind only for the first of a kind. They are created when a command does not find its object.
	objects map[string]*unstructured.Unstructured
	files   map[string][]byte
	// explained are kinds with paths of fields that exist.
	explained *sync.Map
	// definitions are the definitions of custom kinds by resource.
	definitions *sync.Map
	// parsed are programs with arguments that they accept.
	parsed *sync.Map
}

func newReader(t *testing.T) *reader {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	r := &reader{root: flavors.RepositoryRoot(t), home: t.TempDir(), namespace: stage.Namespace, objects: map[string]*unstructured.Unstructured{},
		explained: &sync.Map{}, definitions: &sync.Map{}, parsed: &sync.Map{}}
	r.kubectlPath = filepath.Join(r.root, "bin", "envtest", "kubectl")
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		r.kubectlPath = filepath.Join(assets, "kubectl")
	}
	stage.WriteKubeconfig(filepath.Join(r.home, "config"))
	r.kubeconfig = string(readFile(t, filepath.Join(r.home, "config")))
	r.createRepository(t)
	components := filepath.Join(r.home, "components.yaml")
	writeFile(t, components, flavors.RunProgram(t, nil, "kustomize", "build", filepath.Join("config", "default")))
	install := flavors.RunProgram(t, nil, "clusterctl", "generate", "yaml", "--from", components)
	manifests := [][]byte{install}
	for template, variables := range map[string]map[string]string{"": nil, "-machinepool": nil, "-topology": {"CLUSTER_CLASS_NAME": "default", "CLUSTER_NAME": "my-cluster"}, "-aks": nil,
		"-aks-aso": {"ASO_CREDENTIAL_SECRET_NAME": "aso-credential"}} {
		manifests = append(manifests, flavors.RenderTemplate(t, "cluster-template"+template+".yaml", flavors.TemplateVariables(variables)))
	}
	for _, manifest := range manifests {
		objects, err := flavors.DecodeManifest(manifest)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			r.addObject(object)
		}
	}
	machine := r.objects["AzureMachineTemplate"].DeepCopy()
	spec, _, _ := unstructured.NestedMap(machine.Object, "spec", "template", "spec")
	r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": machine.GetAPIVersion(), "kind": "AzureMachine", "spec": spec}})
	r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{
		"securityContext": map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
		"containers": []any{map[string]any{"name": "app", "image": "registry.example/app", "securityContext": map[string]any{
			"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}}}}}}})
	r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
		"metadata": map[string]any{"name": "controller-leader-election-capz"}, "spec": map[string]any{"holderIdentity": "manager-0_1"}}})
	for _, kind := range []string{"Deployment", "DaemonSet"} {
		r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}, "template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "registry.example/web"}}}}}}})
	}
	r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{
		"ports": []any{map[string]any{"port": int64(80)}}}}})
	r.readFiles(t, map[string][]byte{"infrastructure-components.yaml": readFile(t, components), "install.yaml": install})
	describeKinds(t)
	return r
}

// describeKinds lets the API server compute the OpenAPI description of all kinds. kubectl asks for it when a manifest has a kind that the API
// server lacks, and waits 32 seconds, which is too short while all pages are read.
func describeKinds(t *testing.T) {
	t.Helper()
	config := rest.CopyConfig(environment.Config)
	config.Timeout = harness.Patience
	asking, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := asking.OpenAPISchema(); err != nil {
		t.Fatal(err)
	}
}

// onPage returns a reader of one page.
func (r *reader) onPage(t *testing.T) *reader {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "page-"}}
	if err := environment.Client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	page := *r
	page.namespace, page.kubeconfig = namespace.Name, strings.ReplaceAll(r.kubeconfig, r.namespace, namespace.Name)
	return &page
}

func (r *reader) addObject(object *unstructured.Unstructured) {
	if key := object.GetKind() + " " + object.GetName(); r.objects[key] == nil {
		r.objects[key] = object
	}
	if kind := object.GetKind(); r.objects[kind] == nil || kind == "Deployment" {
		r.objects[kind] = object
	}
}

// createRepository makes a release of the templates for clusterctl.
func (r *reader) createRepository(t *testing.T) {
	t.Helper()
	release := filepath.Join(r.home, "infrastructure-azure", "v2.0.0")
	if err := os.MkdirAll(release, 0o700); err != nil {
		t.Fatal(err)
	}
	templates, err := filepath.Glob(filepath.Join(r.root, "templates", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(templates, filepath.Join(r.root, "metadata.yaml")) {
		writeFile(t, filepath.Join(release, filepath.Base(name)), readFile(t, name))
	}
	components := filepath.Join(release, "infrastructure-components.yaml")
	writeFile(t, components, []byte("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: capz-system\n"))
	r.configuration = filepath.Join(r.home, "clusterctl.yaml")
	writeFile(t, r.configuration, fmt.Appendf(nil, "providers:\n- name: azure\n  type: InfrastructureProvider\n  url: file://%s\n", components))
}

// readFiles reads the files of a release, and those that pages have their readers write.
func (r *reader) readFiles(t *testing.T, files map[string][]byte) {
	t.Helper()
	r.files = files
	files["metadata.yaml"] = readFile(t, filepath.Join(r.root, "metadata.yaml"))
	files["argocd-health.yaml"] = readFile(t, filepath.Join(r.root, "config", "gitops", "argocd-health.yaml"))
	for pattern, prefix := range map[string]string{"templates/azure-roles/*.json": "azure-role-", "config/components/monitoring/*.yaml": "monitoring-"} {
		found, err := filepath.Glob(filepath.Join(r.root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range found {
			r.files[prefix+filepath.Base(name)] = readFile(t, name)
		}
	}
	for _, name := range writtenByReaders {
		r.files[name] = []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: written-by-reader\n")
	}
}

// writtenByReaders are files that pages describe or show in another block.
var writtenByReaders = []string{"my-cluster.yaml", "apimodel.json", "control-plane.yaml", "clusterctl.yaml", "infrastructure-provider.yaml", "identity.pfx",
	"ca.crt", "id_ed25519.pub", "c1.yaml"}

func (r *reader) copyFiles(t *testing.T, folder string) {
	t.Helper()
	for name, content := range r.files {
		writeFile(t, filepath.Join(folder, name), content)
	}
	writeFile(t, filepath.Join(folder, "kubeconfig"), []byte(r.kubeconfig))
	if err := os.MkdirAll(filepath.Join(folder, "sim", "conformance"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// clusterctl generates manifests from the templates, and parses the arguments of other verbs.
func (r *reader) clusterctl(call bookshell.Call) (string, error) {
	arguments := call.Arguments
	for i, argument := range arguments {
		if argument == "--config" {
			if _, err := os.Stat(filepath.Join(call.Folder, arguments[i+1])); err != nil {
				return "", err
			}
		}
	}
	program := filepath.Join(r.root, "bin", "clusterctl")
	if len(arguments) > 2 && arguments[0] == "generate" && arguments[1] == "cluster" {
		// Of a flag that is given twice the last value counts. With a version, clusterctl asks no management cluster.
		manifest, err := r.run(call, program, append(slices.Clone(arguments), "--infrastructure", "azure:v2.0.0", "--config", r.configuration,
			"--target-namespace", r.namespace)...)
		if err != nil {
			return manifest, err
		}
		return manifest, checkWorkers(manifest)
	}
	if err := r.parseByHelp(call, program, arguments); err != nil {
		return "", err
	}
	if len(arguments) > 2 && arguments[0] == "get" && arguments[1] == "kubeconfig" {
		return strings.NewReplacer("name: c\n", "name: "+arguments[2]+"\n", "cluster: c\n", "cluster: "+arguments[2]+"\n").Replace(r.kubeconfig), nil
	}
	return "", nil
}

// parseByHelp lets a program parse its arguments and show its help: it parses the flags first.
func (r *reader) parseByHelp(call bookshell.Call, program string, arguments []string) error {
	i := indexOfVerb(arguments)
	if i < 0 {
		return fmt.Errorf("%s needs a verb", filepath.Base(program))
	}
	key := program + " " + strings.Join(arguments, "\x00")
	if _, done := r.parsed.Load(key); done {
		return nil
	}
	// With a value, it takes no word for its value.
	help, err := r.run(call, program, slices.Insert(slices.Clone(arguments), i+1, "--help=true")...)
	if err != nil {
		return err
	}
	if verb := arguments[i]; !regexp.MustCompile(`(?m)^ +` + filepath.Base(program) + ` ` + regexp.QuoteMeta(verb) + `\b`).MatchString(help) {
		return fmt.Errorf("%s has no verb %s", filepath.Base(program), verb)
	}
	r.parsed.Store(key, true)
	return nil
}

// indexOfVerb returns where the verb of kubectl or clusterctl stands, or -1.
func indexOfVerb(arguments []string) int {
	for i, argument := range arguments {
		if !strings.HasPrefix(argument, "-") && (i == 0 || !slices.Contains(kubectlFlags, arguments[i-1])) {
			return i
		}
	}
	return -1
}

// run runs a program as the call has it.
func (r *reader) run(call bookshell.Call, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(call.Context, program, arguments...)
	command.Dir = call.Folder
	command.Env = []string{"HOME=" + r.home, "XDG_CONFIG_HOME=" + r.home, "KUBECONFIG=" + filepath.Join(call.Folder, "kubeconfig"),
		"CLUSTERCTL_DISABLE_VERSIONCHECK=true", "GOPROXY=off", "KUBE_EDITOR=true", "PATH=" + os.Getenv("PATH")}
	for name, value := range call.Variables {
		if !slices.Contains([]string{"HOME", "PATH", "HTTPS_PROXY", "SSL_CERT_FILE"}, name) {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	var out, messages bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(call.Input), &out, &messages
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("%w: %s", err, strings.TrimSpace(messages.String()+out.String()))
	}
	return out.String(), nil
}
