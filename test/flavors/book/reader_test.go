package book_test

import (
	"bytes"
	"context"
	"errors"
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// reader has what readers of the pages have: a management cluster, the files of a release, and objects.
type reader struct {
	// namespace is that of kubeconfig. Each page has its own.
	root, home, namespace string
	// kubeconfig is the text of that of the API server, which stands for management and workload clusters.
	kubeconfig string
	// configuration is the file of clusterctl's, with this repository's templates as the release.
	configuration string
	// objects are by kind and name, and by kind only for the first of a kind. They are created when a command does not find its object.
	objects map[string]*unstructured.Unstructured
	files   map[string][]byte
	// explained are kinds with paths of fields that exist.
	explained *sync.Map
}

func newReader(t *testing.T) *reader {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	r := &reader{root: flavors.RepositoryRoot(t), home: t.TempDir(), namespace: stage.Namespace, objects: map[string]*unstructured.Unstructured{},
		explained: &sync.Map{}}
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
		"containers": []any{map[string]any{"name": "app", "image": "registry.example/app"}}}}})
	for _, kind := range []string{"Deployment", "DaemonSet"} {
		r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": kind, "spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}, "template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "registry.example/web"}}}}}}})
	}
	r.addObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "spec": map[string]any{
		"ports": []any{map[string]any{"port": int64(80)}}}}})
	r.readFiles(t, map[string][]byte{"infrastructure-components.yaml": readFile(t, components), "install.yaml": install})
	return r
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
		return r.run(call, program, append(slices.Clone(arguments), "--infrastructure", "azure:v2.0.0", "--config", r.configuration,
			"--target-namespace", r.namespace)...)
	}
	if err := r.parseByHelp(call, program, arguments); err != nil {
		return "", err
	}
	if len(arguments) > 2 && arguments[0] == "get" && arguments[1] == "kubeconfig" {
		return strings.NewReplacer("name: c\n", "name: "+arguments[2]+"\n", "cluster: c\n", "cluster: "+arguments[2]+"\n").Replace(r.kubeconfig), nil
	}
	return "", nil
}

// parseByHelp has a program parse its arguments and show its help: it parses the flags first.
func (r *reader) parseByHelp(call bookshell.Call, program string, arguments []string) error {
	help, err := r.run(call, program, append(slices.Clone(arguments), "--help")...)
	if err != nil {
		return err
	}
	if verb := arguments[0]; !regexp.MustCompile(`(?m)^ +` + filepath.Base(program) + ` ` + regexp.QuoteMeta(verb) + `\b`).MatchString(help) {
		return fmt.Errorf("%s has no verb %s", filepath.Base(program), verb)
	}
	return nil
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

// kubectlFlags are flags that may stand before the verb, and have a value.
var kubectlFlags = []string{"--kubeconfig", "--namespace", "-n", "--context"}

// dryRun are the verbs with --dry-run.
var dryRun = []string{"annotate", "apply", "create", "delete", "expose", "label", "patch", "run", "scale", "set"}

// harmless are errors of correct commands: the API server has no kubelets and no controllers.
var harmless = regexp.MustCompile(`no objects passed to scale|no matching resources found|executable kubelogin not found|[Aa]lready ?[Ee]xists|timed out waiting for the condition|does not have a host assigned|context deadline exceeded|` +
	`^exit status 1: (yes|no)$`)

// unknownKind are errors because of kinds of other programs.
var unknownKind = regexp.MustCompile(`resource type "([a-z.]+)"|no matches for kind "([A-Za-z]+)"`)

var notFound = regexp.MustCompile(`([a-z0-9.-]+) "([^"]+)" not found`)

// kubectl runs kubectl against the API server. Requests that change something are dry runs, and objects that a command names are created
// before it is run again.
func (r *reader) kubectl(call bookshell.Call) (string, error) {
	arguments := slices.Clone(call.Arguments)
	if arguments[0] == "capz" {
		return r.playCapz(call, arguments[1:])
	}
	verb, namespace := -1, r.namespace
	for i, argument := range arguments {
		name, value, given := strings.Cut(argument, "=")
		if !given && i+1 < len(arguments) {
			value = arguments[i+1]
		}
		switch {
		case argument == "--":
		case name == "--namespace" || name == "-n":
			namespace = value
		case name == "--kubeconfig":
			if err := r.writeMissing(filepath.Join(call.Folder, value)); err != nil {
				return "", err
			}
		case verb < 0 && !strings.HasPrefix(argument, "-") && (i == 0 || !slices.Contains(kubectlFlags, arguments[i-1])):
			verb = i
		}
	}
	if verb < 0 {
		return "", errors.New("kubectl needs a verb")
	}
	if file := call.Variables["KUBECONFIG"]; file != "" {
		if err := r.writeMissing(filepath.Join(call.Folder, file)); err != nil {
			return "", err
		}
	}
	if arguments[verb] == "annotate" {
		if err := r.checkAnnotations(arguments[verb+1:]); err != nil {
			return "", err
		}
	}
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	var more []string
	switch name := arguments[verb]; {
	case name == "create" && arguments[verb+1] == "token":
	case slices.Contains(dryRun, name):
		more = []string{"--dry-run=server"}
	case name == "logs" || name == "port-forward" || name == "exec":
		more = []string{"--pod-running-timeout=1s"}
	case name == "wait":
		// Nothing comes about that a command waits for.
		arguments = slices.DeleteFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "--timeout=") })
		if i := slices.Index(arguments, "--timeout"); i >= 0 {
			arguments = slices.Delete(arguments, i, i+2)
		}
		more = []string{"--timeout=1s"}
	}
	arguments = slices.Insert(arguments, verb+1, more...)
	arguments = slices.DeleteFunc(arguments, func(a string) bool { return a == "--watch" })
	if slices.ContainsFunc(arguments, func(a string) bool { return strings.HasPrefix(a, "https://") }) {
		return "", r.parseByHelp(call, kubectl, arguments) // Tests have no network.
	}
	for {
		out, err := r.run(call, kubectl, arguments...)
		if err == nil || harmless.MatchString(err.Error()) {
			return out, r.checkPaths(call, kubectl, arguments[verb:])
		}
		if isOfOthers(err.Error()) {
			return out, nil
		}
		match := notFound.FindStringSubmatch(err.Error())
		if match == nil {
			return "", err
		}
		if created := r.createObject(call.Context, match[1], namespace, match[2]); created != nil {
			return "", fmt.Errorf("%w; to create it: %w", err, created)
		}
	}
}

// pathOfField is a path in a template of the output, with filters of lists.
var pathOfField = regexp.MustCompile(`\.(?:status|spec)(?:\.[A-Za-z]+|\[[^\]]*\])*`)

var filterOfList = regexp.MustCompile(`\[[^\]]*\]`)

// checkPaths asks the API server whether the kinds have the fields that the output of kubectl get is made of. kubectl prints nothing for
// others.
func (r *reader) checkPaths(call bookshell.Call, kubectl string, arguments []string) error {
	if arguments[0] != "get" || len(arguments) < 2 || !strings.Contains(strings.Join(arguments, " "), "jsonpath") &&
		!strings.Contains(strings.Join(arguments, " "), "custom-columns") {
		return nil
	}
	paths := map[string]bool{}
	for _, argument := range arguments[2:] {
		for _, path := range pathOfField.FindAllString(argument, -1) {
			paths[filterOfList.ReplaceAllString(path, "")] = true
		}
	}
	for kind := range strings.SplitSeq(arguments[1], ",") {
		kind, _, _ = strings.Cut(kind, "/")
		for path := range paths {
			if _, done := r.explained.Load(kind + path); done {
				continue
			}
			if _, err := r.run(call, kubectl, "explain", kind+path); err != nil {
				return err
			}
			r.explained.Store(kind+path, true)
		}
	}
	return nil
}

// isOfOthers reports whether all kinds that are missing according to an error are those of other programs.
func isOfOthers(message string) bool {
	missing := unknownKind.FindAllStringSubmatch(message, -1)
	return len(missing) > 0 && !slices.ContainsFunc(missing, func(m []string) bool { return otherKinds[m[1]+m[2]] == "" })
}

// writeMissing writes a kubeconfig if there is no file of the name.
func (r *reader) writeMissing(name string) error {
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(name, []byte(r.kubeconfig), 0o600)
}

// createObject creates an object that a command names, of the contents that the templates and the components have for its kind.
func (r *reader) createObject(ctx context.Context, resource, namespace, name string) error {
	kind, err := environment.Client.RESTMapper().KindFor(schema.ParseGroupResource(resource).WithVersion(""))
	if err != nil {
		return err
	}
	mapping, err := environment.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	object := r.objects[kind.Kind+" "+name]
	if object == nil {
		object = r.objects[kind.Kind]
	}
	if object == nil {
		object = &unstructured.Unstructured{Object: map[string]any{}}
		object.SetGroupVersionKind(kind)
	}
	object = object.DeepCopy()
	object.SetName(name)
	object.SetNamespace("")
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace(namespace)
		err := environment.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	if err := environment.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
