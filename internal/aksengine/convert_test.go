package aksengine_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// options are those that a user of each example gives.
var options = aksengine.Options{Location: "eastus", KubernetesVersion: "v1.34.2", TenantID: "99999999-9999-4999-8999-999999999999",
	SubscriptionID: "00000000-0000-0000-0000-000000000001", Identity: "cluster-identity", Namespace: "default"}

// TestExamples checks that each example converts to the golden manifests, that each value of it is accounted for, and that no secret is in
// the manifests or the report. testdata/seed has a model per feature of aks-engine, testdata/other one with all kinds of pools, in the form
// that aks-engine generates.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) < 17 {
		t.Fatalf("found %d examples: %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			model, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			result, err := aksengine.Convert(model, options)
			if err != nil {
				t.Fatal(err)
			}
			manifests, err := result.YAML()
			if err != nil {
				t.Fatal(err)
			}
			findings, err := json.MarshalIndent(map[string]any{"before": result.Before, "findings": result.Findings}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{string(manifests), string(findings)} {
				if strings.Contains(text, "not-for-manifests") {
					t.Error("a secret is in the manifests or the report")
				}
			}
			golden.CompareFile(t, name+".yaml", manifests)
			golden.CompareFile(t, name+".report", append(findings, '\n'))
			checkAccounted(t, model, result)
			t.Logf("%d values: %d carried, %d equivalent, %d not converted, %d empty", len(result.Findings),
				aksengine.Count(result.Findings, aksengine.Carried), aksengine.Count(result.Findings, aksengine.Equivalent),
				aksengine.Count(result.Findings, aksengine.NotConverted), aksengine.Count(result.Findings, aksengine.Empty))
		})
	}
}

// TestIgnoredProperties checks that a value without effect on the manifests is not reported as carried over.
func TestIgnoredProperties(t *testing.T) {
	tests := map[string]struct {
		reason, master, pool, path string
		want                       aksengine.Conversion
	}{
		"data disk of masters": {reason: "the data disk of masters is for etcd", master: `"diskSizesGB": [77]`,
			path: "properties.masterProfile.diskSizesGB[0]", want: aksengine.NotConverted},
		"no zone": {reason: "the zone does not exist", master: `"availabilityZones": ["4"]`,
			path: "properties.masterProfile.availabilityZones[0]", want: aksengine.NotConverted},
		"all zones": {reason: "the manifests exclude no zone", master: `"availabilityZones": ["1", "2", "3"]`,
			path: "properties.masterProfile.availabilityZones[0]", want: aksengine.Equivalent},
		"operating system": {reason: "the machines run Linux", pool: `"osType": "Solaris"`,
			path: "properties.agentPoolProfiles[0].osType", want: aksengine.NotConverted},
		"kind of pool": {reason: "the pool is a MachinePool", pool: `"availabilityProfile": "Rack"`,
			path: "properties.agentPoolProfiles[0].availabilityProfile", want: aksengine.NotConverted},
		"caching": {reason: "the pool has no data disks", pool: `"dataDiskCachingType": "ReadOnly"`,
			path: "properties.agentPoolProfiles[0].dataDiskCachingType", want: aksengine.Equivalent},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			model := fmt.Sprintf(`{"apiVersion": "vlabs", "properties": {"masterProfile": {"dnsPrefix": "c1", "vmSize": "Standard_D2s_v3", %s},
				"agentPoolProfiles": [{"name": "web", "vmSize": "Standard_D2s_v3", %s}]}}`,
				cmp.Or(test.master, `"count": 1`), cmp.Or(test.pool, `"count": 1`))
			result, err := aksengine.Convert([]byte(model), options)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(result.Findings, func(f aksengine.Finding) bool { return f.Path == test.path })
			if i < 0 || result.Findings[i].Conversion != test.want {
				t.Errorf("%s: the finding about %s is not %s: %+v", test.reason, test.path, test.want, result.Findings)
			}
			checkAccounted(t, []byte(model), result)
		})
	}
}

// TestDefaults checks that properties which a model leaves out have the default of aks-engine in the manifests.
func TestDefaults(t *testing.T) {
	tests := map[string]struct {
		reason     string
		nodes      int
		pool, want string
	}{
		"3 machines":  {reason: "the smallest etcd disk", nodes: 2, want: "- diskSizeGB: 256\n"},
		"4 machines":  {reason: "etcd needs more throughput", nodes: 3, want: "- diskSizeGB: 512\n"},
		"11 machines": {reason: "etcd needs more throughput", nodes: 10, want: "- diskSizeGB: 1024\n"},
		"21 machines": {reason: "etcd needs more throughput", nodes: 20, want: "- diskSizeGB: 2048\n"},
		"addresses":   {reason: "the node and 30 pods", nodes: 1, want: "privateIPConfigs: 31\n"},
		"eviction":    {reason: "nodes that are deleted leave no disks", nodes: 1, pool: `, "scaleSetPriority": "Low"`, want: "evictionPolicy: Delete\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			model := fmt.Sprintf(`{"apiVersion": "vlabs", "properties": {"masterProfile": {"dnsPrefix": "c1", "vmSize": "Standard_D2s_v3", "count": 1},
				"agentPoolProfiles": [{"name": "web", "vmSize": "Standard_D2s_v3", "count": %d%s}]}}`, test.nodes, test.pool)
			result, err := aksengine.Convert([]byte(model), options)
			if err != nil {
				t.Fatal(err)
			}
			manifests, err := result.YAML()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(manifests), test.want) {
				t.Errorf("%s: the manifests lack %q:\n%s", test.reason, test.want, manifests)
			}
		})
	}
}

// TestNamedPagesExist checks that the pages of the book which findings name exist.
func TestNamedPagesExist(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range regexp.MustCompile(`docs/book/[-/\w]+\.md`).FindAllString(string(source), -1) {
			found++
			if _, err := os.Stat(filepath.Join("..", "..", page)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if found == 0 {
		t.Error("no finding names a page")
	}
}

// countLeaves counts the values of a model without the code under test.
func countLeaves(t *testing.T, model []byte) int {
	t.Helper()
	var content any
	if err := json.Unmarshal(model, &content); err != nil {
		t.Fatal(err)
	}
	return leaves(content)
}

func leaves(content any) int {
	n := 0
	switch content := content.(type) {
	case map[string]any:
		for _, inner := range content {
			n += leaves(inner)
		}
		n = max(n, 1)
	case []any:
		for _, inner := range content {
			n += leaves(inner)
		}
		n = max(n, 1)
	default:
		n = 1
	}
	return n
}
