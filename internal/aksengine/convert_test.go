package aksengine_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// options are those that a user of each example gives.
var options = aksengine.Options{Location: "eastus", KubernetesVersion: "v1.34.2", TenantID: "99999999-9999-4999-8999-999999999999",
	SubscriptionID: "00000000-0000-0000-0000-000000000001", Identity: "cluster-identity", Namespace: "default"}

// TestExamples holds that each example converts to the golden manifests, that each value of it is accounted for, and that no secret is in
// the manifests or the report. testdata/seed has a model per feature of aks-engine, testdata/other one with all kinds of pools, in the form that
// aks-engine generates.
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
