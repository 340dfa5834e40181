package mainpath_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestMetrics makes a cluster and looks whether the registry that the manager serves has counted it. Other tests of this
// process may have counted in it, too.
func TestMetrics(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	before := readMetrics(t)
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	after := readMetrics(t)
	for _, name := range []string{"capz_azure_requests_total", "capz_azure_request_duration_seconds", "capz_azure_operation_duration_seconds",
		"capz_azure_cache_lookups_total"} {
		if least := float64(len(clusterWrites)); after[name]-before[name] < least {
			t.Errorf("%s grew by %v while a cluster was made, want at least %v", name, after[name]-before[name], least)
		}
	}
}

// readMetrics returns the provider's own metrics, summed up over their labels; of histograms the number of observations.
func readMetrics(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "capz_") {
			continue
		}
		for _, metric := range family.GetMetric() {
			out[family.GetName()] += metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
		}
	}
	return out
}
