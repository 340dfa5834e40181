package metrics_test

import (
	"maps"
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

// readFigures returns the provider's own metrics by name and labels, as in `capz_reconciliation_duration_seconds_count{kind="AzureMachine"}`.
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

// figuresSince returns the growth of the given figures since before.
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
	metrics.Work{}.CountReconciliation("AzureMachine", "Done", 0.25)
	metrics.Work{}.CountReconciliation("AzureMachine", "Done", 3)
	metrics.Work{}.CountReconciliation("AzureCluster", "Failed", 1)
	metrics.Work{}.ObserveTimeToReady("AzureMachine", 90)
	metrics.Work{}.CountFailedStatusWrite("AzureMachine")
	want := map[string]float64{
		`capz_reconciliation_duration_seconds_count{kind="AzureMachine",result="Done"}`:           2,
		`capz_reconciliation_duration_seconds_sum{kind="AzureMachine",result="Done"}`:             3.25,
		`capz_reconciliation_duration_seconds_bucket{kind="AzureMachine",result="Done",le="0.5"}`: 1,
		`capz_reconciliation_duration_seconds_count{kind="AzureCluster",result="Failed"}`:         1,
		`capz_time_to_ready_seconds_count{kind="AzureMachine"}`:                                   1,
		`capz_time_to_ready_seconds_bucket{kind="AzureMachine",le="60"}`:                          0,
		`capz_time_to_ready_seconds_bucket{kind="AzureMachine",le="120"}`:                         1,
		`capz_status_writes_failed_total{kind="AzureMachine"}`:                                    1,
	}
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, figuresSince(t, before, names...)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestObservedObjects records observed objects of two kinds one after the other, and reads the gauges after each step.
func TestObservedObjects(t *testing.T) {
	figures := func(machines, machinesDrifted, machineWrites, pools, poolsDrifted, poolWrites float64) map[string]float64 {
		return map[string]float64{
			`capz_observed_objects{kind="AzureMachine"}`: machines, `capz_observed_objects_drifted{kind="AzureMachine"}`: machinesDrifted,
			`capz_observed_writes{kind="AzureMachine"}`: machineWrites, `capz_observed_objects{kind="AzureMachinePool"}`: pools,
			`capz_observed_objects_drifted{kind="AzureMachinePool"}`: poolsDrifted, `capz_observed_writes{kind="AzureMachinePool"}`: poolWrites,
		}
	}
	for _, step := range []struct {
		reason string
		do     func()
		want   map[string]float64
	}{
		{"two writes of one machine", func() { metrics.Work{}.SetObserved("AzureMachine", "n/a", 2) }, figures(1, 1, 2, 0, 0, 0)},
		{"a machine in order is observed and does not differ", func() { metrics.Work{}.SetObserved("AzureMachine", "n/b", 0) }, figures(2, 1, 2, 0, 0, 0)},
		{"kinds are counted apart", func() { metrics.Work{}.SetObserved("AzureMachinePool", "n/a", 3) }, figures(2, 1, 2, 1, 1, 3)},
		{"the last number of an object counts", func() { metrics.Work{}.SetObserved("AzureMachine", "n/a", 1) }, figures(2, 1, 1, 1, 1, 3)},
		{"an object that is not observed any more does not count", func() { metrics.Work{}.ForgetObserved("AzureMachine", "n/a") }, figures(1, 0, 0, 1, 1, 3)},
		{"an object that was never observed changes nothing", func() { metrics.Work{}.ForgetObserved("AzureCluster", "n/a") }, figures(1, 0, 0, 1, 1, 3)},
		{"the last object of each kind", func() {
			metrics.Work{}.ForgetObserved("AzureMachine", "n/b")
			metrics.Work{}.ForgetObserved("AzureMachinePool", "n/a")
		}, figures(0, 0, 0, 0, 0, 0)},
	} {
		step.do()
		got := figuresSince(t, nil, slices.Collect(maps.Keys(step.want))...)
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestConventions checks the served metrics against Prometheus' conventions for names, units and help.
func TestConventions(t *testing.T) {
	metrics.Work{}.CountReconciliation("AzureMachine", "Done", 1)
	metrics.Work{}.ObserveTimeToReady("AzureMachine", 1)
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
	// The metrics of single objects come from kube-state-metrics, with the configuration of config/components/monitoring.
	own, _, _ := strings.Cut(string(page), "| Metric | Labels beside `namespace`")
	for _, match := range regexp.MustCompile("(?m)^\\| `(capz_[a-z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(own, -1) {
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
