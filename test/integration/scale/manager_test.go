package scale_test

import (
	"bufio"
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var managerFlags = flag.String("manager-flags", "", "further flags of the manager that the benchmark measures, separated by spaces")

// manager is the provider as users run it, in a process of its own: the process's memory is that of the manager alone.
type manager struct {
	*harness.Program
	tb      testing.TB
	metrics string
}

// startManager builds the manager and starts it for the namespace of the stage, with default flags unless -manager-flags
// has others.
func startManager(stage *harness.Stage) *manager {
	tb := stage.T
	tb.Helper()
	arguments := append([]string{"--namespace=" + stage.Namespace, "--insecure-diagnostics"}, strings.Fields(*managerFlags)...)
	m := &manager{tb: tb, Program: stage.StartProgram(harness.ProgramOptions{Binary: harness.BuildManager(tb), Arguments: arguments,
		Environment: strings.Fields(*managerEnv)})}
	m.metrics = "http://" + m.Diagnostics + "/metrics"
	stage.Eventually("the manager serves metrics", func() bool {
		response, err := http.Get(m.metrics)
		return err == nil && response.Body.Close() == nil
	})
	return m
}

// figures are the manager's metrics: the sum of every one by name over the label sets that have all the given labels.
type figures []byte

func (m *manager) readFigures() figures {
	response, err := http.Get(m.metrics)
	if err != nil {
		m.tb.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		m.tb.Fatal(err)
	}
	return raw
}

// sumMetric adds up a metric over the label sets that contain all the labels, each as in `controller="azuremachine"`.
func (f figures) sumMetric(name string, labels ...string) float64 {
	total := 0.0
	lines := bufio.NewScanner(bytes.NewReader(f))
	lines.Buffer(nil, 1<<20)
next:
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue next
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndex(rest, " ")+1:], 64)
		if err == nil {
			total += value
		}
	}
	return total
}

// readLoad returns the load of the computer over the last minute, as every figure of time has to be read with it.
func readLoad() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(raw))[0]
}

// differenceSince returns the difference of a metric between two looks.
func differenceSince(before, after figures, name string, labels ...string) float64 {
	return after.sumMetric(name, labels...) - before.sumMetric(name, labels...)
}

const patience = 10 * time.Minute
