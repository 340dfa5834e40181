package signals

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

type object = map[string]any

// at returns the value at a path of keys, nil if there is none.
func at(value any, path ...string) any {
	for _, key := range path {
		inner, _ := value.(object)
		value = inner[key]
	}
	return value
}

// buildKustomization returns the objects of a kustomization in a folder, by kind and name.
func buildKustomization(t *testing.T, root, folder, kustomization string) map[string]object {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "bin", "kustomize"), "build", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("kustomize build: %v\n%s", err, out)
	}
	built := map[string]object{}
	for document := range strings.SplitSeq(string(out), "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		built[fmt.Sprint(o["kind"], " ", at(o, "metadata", "name"))] = o
	}
	return built
}

// TestRunbookAddress builds the kustomization of the book: its ConfigMap is the one place with the address of all runbooks, and is not applied.
func TestRunbookAddress(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs/book/alerts.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(folder, root)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```yaml\n# (\\S+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		files[block[1]] = strings.ReplaceAll(block[2], "config/components/", relative+"/config/components/")
	}
	if err := os.WriteFile(filepath.Join(folder, "runbooks.yaml"), []byte(files["runbooks.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	built := buildKustomization(t, root, folder, files["kustomization.yaml"])
	if built["ConfigMap capz-runbooks"] != nil {
		t.Error("the ConfigMap with the address would be applied")
	}
	rules := 0
	for _, group := range at(built["PrometheusRule capz"], "spec", "groups").([]any) {
		for _, rule := range at(group, "rules").([]any) {
			rules++
			want := "https://wiki.example.org/capz/alerts.html#" + strings.ToLower(fmt.Sprint(at(rule, "alert")))
			if got := at(rule, "annotations", "runbook_url"); got != want {
				t.Errorf("runbook_url is %v, want %s", got, want)
			}
		}
	}
	if rules < 10 {
		t.Errorf("the PrometheusRule has %d rules", rules)
	}
}

// TestComponent adds the component to the manifests of the release: the ServiceMonitor selects the Service, and the Service the manager's pods and
// their port.
func TestComponent(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(folder, root)
	if err != nil {
		t.Fatal(err)
	}
	built := buildKustomization(t, root, folder, fmt.Sprintf("resources: [%s/config/default]\ncomponents: [%s/config/components/monitoring]\n",
		relative, relative))
	for name := range built {
		if strings.Contains(name, "capz-capz") {
			t.Errorf("%v has the prefix twice", name)
		}
	}
	service, monitor := built["Service capz-controller-manager-metrics"], built["ServiceMonitor capz-controller-manager-metrics"]
	pods := at(built["Deployment capz-controller-manager"], "spec", "template")
	rule, board := built["PrometheusRule capz"], built["ConfigMap capz-dashboard"]
	if service == nil || monitor == nil || rule == nil || board == nil || pods == nil {
		t.Fatalf("an object is missing: Service %t, ServiceMonitor %t, PrometheusRule %t, ConfigMap %t, Deployment %t", service != nil, monitor != nil,
			rule != nil, board != nil, pods != nil)
	}
	isPart := func(what string, selector, labels any) {
		t.Helper()
		chosen, _ := selector.(object)
		for key, value := range chosen {
			if at(labels, key) != value {
				t.Errorf("%s: %s=%v is not among %v", what, key, value, labels)
			}
		}
		if len(chosen) == 0 {
			t.Errorf("%s selects nothing", what)
		}
	}
	isPart("the Service", at(service, "spec", "selector"), at(pods, "metadata", "labels"))
	isPart("the ServiceMonitor", at(monitor, "spec", "selector", "matchLabels"), at(service, "metadata", "labels"))
	port := at(service, "spec", "ports").([]any)[0]
	endpoint := at(monitor, "spec", "endpoints").([]any)[0]
	containers, err := json.Marshal(at(pods, "spec", "containers"))
	if err != nil {
		t.Fatal(err)
	}
	if at(endpoint, "port") != at(port, "name") || !strings.Contains(string(containers), fmt.Sprintf(`"name":%q`, at(port, "targetPort"))) {
		t.Errorf("the endpoint %v, the port %v and the container's ports do not agree", endpoint, port)
	}
}

// stateMetrics has the fields of kube-state-metrics' configuration that the release sets.
type stateMetrics struct {
	Kind string `json:"kind"`
	Spec struct {
		Resources []struct {
			GroupVersionKind struct {
				Group   string `json:"group"`
				Version string `json:"version"`
				Kind    string `json:"kind"`
			} `json:"groupVersionKind"`
			MetricNamePrefix string              `json:"metricNamePrefix"`
			LabelsFromPath   map[string][]string `json:"labelsFromPath"`
			Metrics          []struct {
				Name string `json:"name"`
				Help string `json:"help"`
				Each struct {
					Type  string     `json:"type"`
					Gauge *stateEach `json:"gauge"`
					Info  *stateEach `json:"info"`
				} `json:"each"`
			} `json:"metrics"`
		} `json:"resources"`
	} `json:"spec"`
}

type stateEach struct {
	Path           []string            `json:"path"`
	LabelsFromPath map[string][]string `json:"labelsFromPath"`
	ValueFrom      []string            `json:"valueFrom"`
}

// TestStateMetrics checks the configuration of kube-state-metrics: it has each kind with conditions, and each path of it exists in the schema of the
// kind.
func TestStateMetrics(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(components, "kube-state-metrics.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config stateMetrics
	if err := yaml.UnmarshalStrict(raw, &config); err != nil {
		t.Fatal(err)
	}
	schemas := readSchemas(t)
	var kinds []string
	for _, resource := range config.Spec.Resources {
		kind := resource.GroupVersionKind
		kinds = append(kinds, kind.Kind)
		schema := schemas[kind.Group+"/"+kind.Version+" "+kind.Kind]
		if schema == nil {
			t.Fatalf("%+v does not exist", kind)
		}
		hasPath := func(schema object, path []string) object {
			for _, key := range path {
				next, _ := at(schema, "properties", key).(object)
				if next == nil {
					t.Errorf("%s has no path %q", kind.Kind, path)
					return nil
				}
				schema = next
			}
			return schema
		}
		for _, metric := range resource.Metrics {
			if !regexp.MustCompile(`^[a-z_]+$`).MatchString(metric.Name) || metric.Help == "" {
				t.Errorf("%s: the name %q is no name of a metric, or has no help", kind.Kind, metric.Name)
			}
			each := metric.Each.Gauge
			if metric.Each.Type == "Info" {
				each = metric.Each.Info
			}
			if each == nil || metric.Each.Gauge != nil && metric.Each.Info != nil {
				t.Fatalf("%s: %s is not of one type", kind.Kind, metric.Name)
			}
			if each.Path[0] == "metadata" {
				continue // Every object has the same metadata.
			}
			found := hasPath(schema, each.Path)
			if items, ok := found["items"].(object); ok {
				found = items
			}
			for _, path := range each.LabelsFromPath {
				hasPath(found, path)
			}
			if len(each.ValueFrom) > 0 {
				hasPath(found, each.ValueFrom)
			}
		}
	}
	var want []string
	for name, schema := range schemas {
		if at(schema, "properties", "status", "properties", "conditions") != nil {
			want = append(want, name[strings.Index(name, " ")+1:])
		}
	}
	slices.Sort(kinds)
	slices.Sort(want)
	want = slices.Compact(want) // Some kinds have several versions.
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds with conditions (-want +configured):\n%s", diff)
	}
}

// readSchemas returns the schemas of the provider's kinds, by group, version and kind.
func readSchemas(t *testing.T) map[string]object {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions: %v", err)
	}
	out := map[string]object{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition object
		if err := yaml.Unmarshal(raw, &definition); err != nil {
			t.Fatal(err)
		}
		versions, _ := at(definition, "spec", "versions").([]any)
		for _, version := range versions {
			schema, _ := at(version, "schema", "openAPIV3Schema").(object)
			out[fmt.Sprintf("%v/%v %v", at(definition, "spec", "group"), at(version, "name"), at(definition, "spec", "names", "kind"))] = schema
		}
	}
	return out
}
