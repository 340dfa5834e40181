package metrics_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	registered "sigs.k8s.io/controller-runtime/pkg/metrics"

	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
)

// scrapeMetrics returns the metrics that the manager serves from controller-runtime's registry.
func scrapeMetrics(t *testing.T) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	promhttp.HandlerFor(registered.Registry, promhttp.HandlerOpts{}).ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	return recorder.Body.String()
}

// readFigures returns the provider's own metrics by name and labels, as in `capz_pass_duration_seconds_count{kind="AzureMachine"}`.
func readFigures(t *testing.T) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for line := range strings.Lines(scrapeMetrics(t)) {
		series, number, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if !ok || !strings.HasPrefix(series, "capz_") {
			continue
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out[series+"}"] = value
	}
	return out
}

// figuresSince is by how much the given figures have grown.
func figuresSince(t *testing.T, before map[string]float64, names ...string) map[string]float64 {
	t.Helper()
	now, out := readFigures(t), map[string]float64{}
	for _, name := range names {
		out[name] = now[name] - before[name]
	}
	return out
}

func TestControllerMetrics(t *testing.T) {
	before := readFigures(t)
	metrics.CountReconciliation("AzureMachine", "Done", 0.25)
	metrics.CountReconciliation("AzureMachine", "Done", 3)
	metrics.CountReconciliation("AzureCluster", "Failed", 1)
	metrics.ObserveTimeToReady("AzureMachine", 90)
	want := map[string]float64{
		`capz_pass_duration_seconds_count{kind="AzureMachine",result="Done"}`:           2,
		`capz_pass_duration_seconds_sum{kind="AzureMachine",result="Done"}`:             3.25,
		`capz_pass_duration_seconds_bucket{kind="AzureMachine",result="Done",le="0.5"}`: 1,
		`capz_pass_duration_seconds_count{kind="AzureCluster",result="Failed"}`:         1,
		`capz_time_to_ready_seconds_count{kind="AzureMachine"}`:                         1,
		`capz_time_to_ready_seconds_bucket{kind="AzureMachine",le="60"}`:                0,
		`capz_time_to_ready_seconds_bucket{kind="AzureMachine",le="120"}`:               1,
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, figuresSince(t, before, names...)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestConventions checks the served metrics against Prometheus' conventions for names, units and help.
func TestConventions(t *testing.T) {
	metrics.CountReconciliation("AzureMachine", "Done", 1)
	metrics.ObserveTimeToReady("AzureMachine", 1)
	var ours strings.Builder
	for line := range strings.Lines(scrapeMetrics(t)) {
		if strings.Contains(line, "capz_") {
			ours.WriteString(line)
		}
	}
	problems, err := promlint.New(strings.NewReader(ours.String())).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestBookListsEveryMetric makes sure that the book has a line for every metric, with its labels, and for none that does not exist.
func TestBookListsEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../../docs/book/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]string{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(capz_[a-z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		described[match[1]] = strings.ReplaceAll(match[2], "`", "")
	}
	descriptions := make(chan *prometheus.Desc, 100)
	for _, collector := range metrics.Collectors {
		collector.Describe(descriptions)
	}
	close(descriptions)
	exist := map[string]string{}
	form := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)
	for description := range descriptions {
		match := form.FindStringSubmatch(description.String())
		labels := strings.Split(match[2], ",")
		slices.Sort(labels)
		exist[match[1]] = strings.Join(labels, ", ")
	}
	if diff := cmp.Diff(exist, described); diff != "" {
		t.Errorf("docs/book/metrics.md (-exists +described):\n%s", diff)
	}
}
