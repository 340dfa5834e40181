package installation_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	chartutil "helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/installation"
)

type object = map[string]any

// root is the checkout.
var root = filepath.Join("..", "..")

// released are the objects of the release, and of the component monitoring.
var released = sync.OnceValues(func() ([]byte, error) { return kustomize("resources: [%s/config/default]") })
var monitoring = sync.OnceValues(func() ([]byte, error) { return kustomize("components: [%s/config/components/monitoring]") })

// kustomize builds a kustomization that names the checkout.
func kustomize(format string) ([]byte, error) {
	folder, err := os.MkdirTemp("", "installation-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	at, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	to, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(at, to)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(at, "kustomization.yaml"), fmt.Appendf(nil, format+"\n", relative), 0o600); err != nil {
		return nil, err
	}
	return exec.Command(filepath.Join(root, "bin", "kustomize"), "build", at).Output()
}

// newChart returns the files of the chart and the chart as Helm loads it from the archive.
func newChart(t *testing.T) (map[string][]byte, *chartv2.Chart) {
	t.Helper()
	components, err := released()
	if err != nil {
		t.Fatal(err)
	}
	more, err := monitoring()
	if err != nil {
		t.Fatal(err)
	}
	files, err := installation.ChartFiles(installation.Source{Version: "v2.0.0", Components: components, Monitoring: more})
	if err != nil {
		t.Fatal(err)
	}
	archive, err := installation.ChartArchive(files)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	return files, loaded
}

// render returns the objects of the chart with values, by kind and name.
func render(t *testing.T, c *chartv2.Chart, namespace, values string) (map[string]object, error) {
	t.Helper()
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: "capz", Namespace: namespace, IsInstall: true, Revision: 1}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	out := map[string]object{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, "NOTES.txt") {
			decode(t, name, []byte(files[name]), out)
		}
	}
	return out, nil
}

// decode adds the objects of documents to out.
func decode(t *testing.T, from string, documents []byte, out map[string]object) {
	t.Helper()
	for document := range strings.SplitSeq("\n"+string(documents), "\n---\n") {
		var o object
		if err := yaml.UnmarshalStrict([]byte(document), &o); err != nil {
			t.Fatalf("%s: %v\n%s", from, err, document)
		}
		if len(o) == 0 {
			continue
		}
		key := keyOf(o)
		if out[key] != nil {
			t.Errorf("%s: %s exists twice", from, key)
		}
		out[key] = o
	}
}

// keyOf returns the kind and the name of an object, and the namespace of a RoleBinding, of which two have the same name.
func keyOf(o object) string {
	metadata := o["metadata"].(object)
	key := fmt.Sprintf("%v %v", o["kind"], metadata["name"])
	if o["kind"] == "RoleBinding" {
		key += fmt.Sprintf(" in %v", metadata["namespace"])
	}
	return key
}

// variable is a variable of clusterctl with its default.
var variable = regexp.MustCompile(`\$\{[A-Z0-9_]+:=([^}]*)\}`)

// releasedObjects are the objects that clusterctl installs without variables.
func releasedObjects(t *testing.T, namespace string) map[string]object {
	t.Helper()
	components, err := released()
	if err != nil {
		t.Fatal(err)
	}
	components = variable.ReplaceAll(components, []byte("$1"))
	components = regexp.MustCompile(`\bcapz-system($|[^A-Za-z0-9-])`).ReplaceAll(components, []byte(namespace+"$1"))
	out := map[string]object{}
	decode(t, "config/default", components, out)
	return out
}

// withoutEmpty removes empty values, which mean the same as none in these objects.
func withoutEmpty(value any) any {
	switch v := value.(type) {
	case object:
		for key, inner := range v {
			if inner = withoutEmpty(inner); inner == nil {
				delete(v, key)
			} else {
				v[key] = inner
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutEmpty(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	}
	return value
}

// TestChartRendersRelease compares the objects of the chart with default values with those of the release.
func TestChartRendersRelease(t *testing.T) {
	_, c := newChart(t)
	for name, test := range map[string]struct{ reason, namespace, values string }{
		"default":            {"the namespace is Helm's own", "capz-system", ""},
		"with the namespace": {"all objects of the release", "capz-system", "namespace: {create: true}"},
		"another namespace":  {"every reference to the namespace follows", "other", "namespace: {create: true}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render(t, c, test.namespace, test.values)
			if err != nil {
				t.Fatal(err)
			}
			want := releasedObjects(t, test.namespace)
			if test.values == "" {
				delete(want, "Namespace capz-system")
			}
			for key, o := range got {
				if o["kind"] != "CustomResourceDefinition" {
					continue
				}
				annotations := o["metadata"].(object)["annotations"].(object)
				if annotations["helm.sh/resource-policy"] != "keep" {
					t.Errorf("%s is deleted by helm uninstall, and clusters lose their objects", key)
				}
				delete(annotations, "helm.sh/resource-policy")
			}
			if diff := cmp.Diff(withoutEmpty(toAny(want)), withoutEmpty(toAny(got))); diff != "" {
				t.Errorf("%s (-release +chart):\n%s", test.reason, diff)
			}
		})
	}
}

func toAny(objects map[string]object) object {
	out := object{}
	for key, o := range objects {
		out[key] = o
	}
	return out
}

// at returns the value at a path of keys and, for lists, the first element that has the key.
func at(value any, path ...string) any {
	for _, key := range path {
		if list, is := value.([]any); is {
			if len(list) == 0 {
				return nil
			}
			value = list[0]
		}
		inner, _ := value.(object)
		value = inner[key]
	}
	return value
}

// TestChartValues sets each group of values.
func TestChartValues(t *testing.T) {
	_, c := newChart(t)
	const manager = "Deployment capz-controller-manager"
	pod := []string{"spec", "template", "spec"}
	container := append(slices.Clone(pod), "containers")
	below := func(key string) []string { return append(slices.Clone(container), key) }
	for name, test := range map[string]struct {
		reason, values string
		// want are parts of the text of a value at a path of an object, and absent are objects that are not rendered.
		object string
		path   []string
		want   []string
		absent []string
	}{
		"replicas":  {reason: "one replica needs no budget", values: "replicas: 1", object: manager, path: []string{"spec", "replicas"}, want: []string{"1"}, absent: []string{"PodDisruptionBudget capz-controller-manager"}},
		"resources": {reason: "the memory of the process goes with the limit", values: "{resources: {limits: {memory: 1Gi}}, goMemoryLimit: 920MiB}", object: manager, path: container, want: []string{"memory:1Gi", "value:920MiB"}},
		"tenancy":   {reason: "as with the established provider", values: "tenancy: trusted", object: manager, path: below("args"), want: []string{"--tenancy=trusted"}},
		"namespaces": {reason: "rights to Secrets are by namespace", values: "{watchNamespace: a, secretNamespaces: [a, b]}", object: manager, path: below("args"),
			want: []string{"--namespace=a", "--secret-namespaces=a,b"}, absent: []string{"ClusterRoleBinding capz-system-secrets-rolebinding"}},
		"binding by namespace": {reason: "each namespace has its binding", values: "secretNamespaces: [a, b]", object: "RoleBinding capz-secrets in b", path: []string{"subjects"}, want: []string{"name:capz-manager", "namespace:capz-system"}},
		"identity": {reason: "webhooks read annotations of the account", values: "identity: {serviceAccountAnnotations: {azure.workload.identity/client-id: x}, operatorServiceAccount: false}",
			object: "ServiceAccount capz-manager", path: []string{"metadata", "annotations"}, want: []string{"azure.workload.identity/client-id:x"}, absent: []string{"ServiceAccount azureserviceoperator-default"}},
		"subscription": {reason: "values of Secrets are base64", values: "azure: {subscriptionID: abc}", object: "Secret capz-manager-bootstrap-credentials", path: []string{"data", "subscription-id"}, want: []string{"YWJj"}},
		"cloud":        {reason: "other endpoints", values: "azure: {authorityHost: https://login.example}", object: manager, path: below("env"), want: []string{"value:https://login.example"}},
		"gates":        {reason: "gates that are not set keep their default", values: "featureGates: {EdgeZone: true}", object: manager, path: below("args"), want: []string{"MachinePool=true,", "EdgeZone=true,"}},
		"image":        {reason: "an image of another registry", values: "image: {repository: r.example/x, tag: t, digest: '', pullPolicy: Always}", object: manager, path: container, want: []string{"image:r.example/x:t ", "imagePullPolicy:Always"}},
		"pods":         {reason: "where pods run", values: "{nodeSelector: {a: b}, imagePullSecrets: [{name: s}], priorityClassName: p, tolerations: []}", object: manager, path: pod, want: []string{"nodeSelector:map[a:b]", "name:s", "priorityClassName:p", "tolerations:[]"}},
		"arguments":    {reason: "arguments come last", values: "extraArgs: [--watch-filter=x]", object: manager, path: below("args"), want: []string{"--watch-filter=x]"}},
		"proxy": {reason: "variables of the environment", values: "extraEnv: [{name: HTTPS_PROXY, value: 'http://proxy.example:3128'}, {name: TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
			object: manager, path: below("env"), want: []string{"map[name:HTTPS_PROXY value:http://proxy.example:3128]", "map[name:TOKEN valueFrom:map[secretKeyRef:map[key:k name:s]]]"}},
		"CA": {reason: "certificates of a private CA", values: "{extraVolumes: [{name: private-ca, configMap: {name: private-ca}}], extraVolumeMounts: [{name: private-ca, mountPath: /var/run/private-ca}]}",
			object: manager, path: pod, want: []string{"map[configMap:map[name:private-ca] name:private-ca]", "map[mountPath:/var/run/private-ca name:private-ca]", "azure-identity-token"}},
		"monitoring": {reason: "alerts have the templates of Prometheus as they are", values: "monitoring: {enabled: true}", object: "PrometheusRule capz", path: []string{"spec"}, want: []string{"{{ $labels."}},
		"dashboard":  {reason: "the dashboard has the namespace", values: "monitoring: {enabled: true}", object: "ConfigMap capz-dashboard", path: []string{"metadata", "namespace"}, want: []string{"capz-system"}},
		"kinds":      {reason: "other tools install the kinds", values: "crds: {install: false}", object: manager, path: []string{"kind"}, want: []string{"Deployment"}, absent: []string{"CustomResourceDefinition azureclusters.infrastructure.cluster.x-k8s.io"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render(t, c, "capz-system", test.values)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(at(got[test.object], test.path...))
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s of %s has no %q: %s", test.reason, strings.Join(test.path, "."), test.object, want, text)
				}
			}
			for _, absent := range test.absent {
				if got[absent] != nil {
					t.Errorf("%s: %s is rendered", test.reason, absent)
				}
				if all, err := render(t, c, "capz-system", ""); err != nil || all[absent] == nil {
					t.Errorf("%s is not rendered with default values, either: %v", absent, err)
				}
			}
		})
	}
}

// TestChartRefusesValues sets values that the schema does not allow.
func TestChartRefusesValues(t *testing.T) {
	_, c := newChart(t)
	for values, want := range map[string]string{"tenancy: open": "tenancy", "replica: 1": "replica", "syncPeriod: ten": "syncPeriod", "extraArgs: [x]": "extraArgs",
		"extraEnv: [{name: a, value: 1}]": "extraEnv", "extraEnv: [{vale: a, name: b}]": "extraEnv", "extraVolumeMounts: [{name: a}]": "extraVolumeMounts"} {
		if _, err := render(t, c, "capz-system", values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// TestChartLints lets Helm check the folder of the chart.
func TestChartLints(t *testing.T) {
	files, _ := newChart(t)
	folder := filepath.Join(t.TempDir(), installation.ChartName)
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, values := range []map[string]any{nil, {"monitoring": map[string]any{"enabled": true}, "secretNamespaces": []any{"a"}}} {
		for _, message := range lint.RunAll(folder, values, "capz-system").Messages {
			if message.Severity >= support.WarningSev {
				t.Error(message)
			}
		}
	}
}

// TestChartBehindProxy renders the chart with the values of docs/book/manager.md.
func TestChartBehindProxy(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "manager.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, values, found := strings.Cut(string(page), "```yaml\n# values.yaml\n")
	values, _, _ = strings.Cut(values, "```")
	if !found {
		t.Fatal("docs/book/manager.md has no values for a proxy")
	}
	_, c := newChart(t)
	got, err := render(t, c, "capz-system", values)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(got["Deployment capz-controller-manager"])
	for _, want := range []string{"name:HTTPS_PROXY value:http://proxy.example:3128", "169.254.169.254", "name:SSL_CERT_DIR value:/var/run/private-ca",
		"configMap:map[name:private-ca]", "mountPath:/var/run/private-ca"} {
		if !strings.Contains(text, want) {
			t.Errorf("the Deployment has no %q: %s", want, text)
		}
	}
}
