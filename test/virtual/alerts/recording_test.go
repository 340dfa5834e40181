package alerts_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var recordTo = flag.String("record", "", "folder for the recorded series; none are written without it")

// jobLabel is the label that Prometheus adds to all series of the manager, by the name of its Service.
const jobLabel = `job="capz-controller-manager-metrics"`

// recording has the samples of each series, one for each minute.
type recording struct {
	*virtual.Scenario
	minutes int
	// up is set while a manager runs, follows while it is not the leader.
	up, follows bool
	series      map[string][]string
	last        map[string]float64
}

// play lets minutes pass, with a scrape after each.
func (r *recording) play(minutes int) {
	r.T.Helper()
	for range minutes {
		for range 6 {
			virtual.WaitForSignal(nil, 10*time.Second)
			if r.Meanwhile != nil {
				r.Meanwhile()
			}
		}
		r.scrape()
	}
}

// scrape records the current value of each series. A series that ended is marked as stale once, as Prometheus does.
func (r *recording) scrape() {
	r.T.Helper()
	now := map[string]float64{}
	if r.up {
		families, err := metrics.Registry.Gather()
		if err != nil {
			r.T.Fatal(err)
		}
		for _, family := range families {
			if name := family.GetName(); !r.follows && strings.HasPrefix(name, "capz_") || strings.HasPrefix(name, "workqueue_") {
				addSamples(now, family)
			}
		}
		now["up{"+jobLabel+"}"] = 1
		// The manager of the scenario needs no lease.
		now["leader_election_master_status{"+jobLabel+`,name="controller-leader-election-capz"}`] = map[bool]float64{true: 0, false: 1}[r.follows]
	} else {
		now["up{"+jobLabel+"}"] = 0
	}
	for name, value := range now {
		if _, known := r.series[name]; !known {
			r.series[name] = slices.Repeat([]string{"_"}, r.minutes)
		}
		r.series[name] = append(r.series[name], strconv.FormatFloat(value, 'g', -1, 64))
	}
	for name, samples := range r.series {
		switch _, exists := now[name]; {
		case exists:
		case samples[len(samples)-1] == "_" || samples[len(samples)-1] == "stale":
			r.series[name] = append(samples, "_")
		default:
			r.series[name] = append(samples, "stale")
		}
	}
	r.minutes++
	r.last = now
}

// addSamples adds the samples of a metric by their names in Prometheus.
func addSamples(out map[string]float64, family *dto.MetricFamily) {
	for _, metric := range family.GetMetric() {
		name := func(suffix string, more ...string) string {
			labels := []string{jobLabel}
			for _, label := range metric.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
			}
			return family.GetName() + suffix + "{" + strings.Join(append(labels, more...), ",") + "}"
		}
		switch {
		case metric.GetHistogram() != nil:
			out[name("_count")], out[name("_sum")] = float64(metric.GetHistogram().GetSampleCount()), metric.GetHistogram().GetSampleSum()
			for _, bucket := range metric.GetHistogram().GetBucket() {
				out[name("_bucket", fmt.Sprintf("le=%q", strconv.FormatFloat(bucket.GetUpperBound(), 'g', -1, 64)))] = float64(bucket.GetCumulativeCount())
			}
			out[name("_bucket", `le="+Inf"`)] = float64(metric.GetHistogram().GetSampleCount())
		case metric.GetCounter() != nil:
			out[name("")] = metric.GetCounter().GetValue()
		case metric.GetGauge() != nil:
			out[name("")] = metric.GetGauge().GetValue()
		}
	}
}

// sum returns the sum of the last values of the series whose names have all parts.
func (r *recording) sum(parts ...string) (out float64) {
	for name, value := range r.last {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(name, part) }) {
			out += value
		}
	}
	return out
}

// describe returns the last series whose names begin with prefix.
func (r *recording) describe(prefix string) (out []string) {
	for name, value := range r.last {
		if strings.HasPrefix(name, prefix) {
			out = append(out, fmt.Sprintf("%s %v", name, value))
		}
	}
	slices.Sort(out)
	return out
}

// write writes the series in Prometheus' notation, if a folder is given.
func (r *recording) write(t *testing.T, story string) {
	t.Helper()
	if *recordTo == "" {
		return
	}
	var out strings.Builder
	out.WriteString("load 1m\n")
	for _, name := range slices.Sorted(maps.Keys(r.series)) {
		fmt.Fprintf(&out, "  %s %s\n", name, strings.Join(r.series[name], " "))
	}
	if err := os.WriteFile(filepath.Join(*recordTo, story+".prom"), []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
