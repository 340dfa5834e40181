package aksengine_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aksengine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// options are those that a user of each example gives.
var options = aksengine.Options{Location: "eastus", KubernetesVersion: "v1.34.2", TenantID: "99999999-9999-4999-8999-999999999999",
	SubscriptionID: "00000000-0000-0000-0000-000000000001", Identity: "cluster-identity", Namespace: "default"}

// TestExamples holds that each example, those of seed 003 and a model that aks-engine generated for all kinds of pools, converts to the golden manifests, that the webhooks admit them, that each
// value of it is accounted for, and that no secret is in the manifests or the report.
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
			if len(result.Refusals) > 0 {
				t.Errorf("webhooks refuse: %v", result.Refusals)
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
			compareGolden(t, name+".yaml", manifests)
			compareGolden(t, name+".report", append(findings, '\n'))
			checkAccounted(t, model, result)
			t.Logf("%d values: %d carried, %d equivalent, %d not converted, %d empty", len(result.Findings),
				aksengine.Count(result.Findings, aksengine.Carried), aksengine.Count(result.Findings, aksengine.Equivalent),
				aksengine.Count(result.Findings, aksengine.NotConverted), aksengine.Count(result.Findings, aksengine.Empty))
		})
	}
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); review it, then run the test with -update:\n%s", file, diff)
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
