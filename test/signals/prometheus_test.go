package signals

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

// components has the files of the release.
const components = "../../config/components/monitoring"

// recordStories plays the stories of the provider once, and returns the folder with their series. It runs the provider's tests in their own module,
// because the dependencies of Prometheus would change the versions of those of the provider.
var recordStories = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "series-")
	if err != nil {
		return "", err
	}
	recorded = folder
	command := exec.Command("go", "test", "-count", "1", "-timeout", "20m", "./test/virtual/alerts", "-record", folder)
	command.Dir = filepath.Join("..", "..")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the stories: %w\n%s", err, out)
	}
	return folder, nil
})

// recorded is the folder with the series, "" before the stories are played.
var recorded string

// TestMain removes the recorded series.
func TestMain(m *testing.M) {
	code := m.Run()
	if recorded != "" {
		_ = os.RemoveAll(recorded)
	}
	os.Exit(code)
}

// readStories returns the recorded series in the notation of Prometheus' tests, by story.
func readStories(t *testing.T) map[string]string {
	t.Helper()
	folder, err := recordStories()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.prom"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no series: %v", err)
	}
	out := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".prom")] = string(raw)
	}
	return out
}

// loadSeries returns a Prometheus with series, which begin at time 0 with a sample each minute, and how long they are.
func loadSeries(t *testing.T, series string) (*promqltest.LazyLoader, time.Duration) {
	t.Helper()
	loaded, err := promqltest.NewLazyLoader(series, promqltest.LazyLoaderOpts{EnableAtModifier: true, EnableNegativeOffset: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := loaded.Close(); err != nil {
			t.Error(err)
		}
	})
	longest := 0
	for line := range strings.Lines(series) {
		if _, samples, ok := strings.Cut(line, "} "); ok {
			longest = max(longest, len(strings.Fields(samples)))
		}
	}
	return loaded, time.Duration(longest) * time.Minute
}

// prometheusRule has the fields of a PrometheusRule that the release sets.
type prometheusRule struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec json.RawMessage `json:"spec"`
}

// readRules returns the rules as a file of Prometheus, and its path.
func readRules(t *testing.T) (*rulefmt.RuleGroups, string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(components, "prometheus_rule.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var object prometheusRule
	if err := yaml.UnmarshalStrict(raw, &object); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, object.Spec, 0o600); err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(object.Spec, false, model.UTF8Validation, parser.NewParser(parser.Options{}), promslog.NewNopLogger())
	for _, err := range errs {
		t.Error(err)
	}
	return groups, file
}

// firing is when an alert fired first, and whether it fires in the end.
type firing struct {
	first, last time.Duration
	atEnd       bool
	texts       []string
}

// evaluateRules evaluates the rules every minute, as Prometheus does, and returns the alerts that fired.
func evaluateRules(t *testing.T, file, series string) map[string]*firing {
	t.Helper()
	loaded, length := loadSeries(t, series)
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(loaded.QueryEngine(), loaded.Storage()), Appendable: loaded.Storage(), Context: context.Background(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: promslog.NewNopLogger(), Parser: parser.NewParser(parser.Options{}),
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, file)
	for _, err := range errs {
		t.Fatal(err)
	}
	out := map[string]*firing{}
	for at := time.Duration(0); at < length; at += time.Minute {
		loaded.WithSamplesTill(time.Unix(0, 0).Add(at), func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range groups {
				group.Eval(loaded.Context(), time.Unix(0, 0).Add(at).UTC())
				for _, rule := range group.Rules() {
					if rule.LastError() != nil {
						t.Fatalf("%s: %v", rule.Name(), rule.LastError())
					}
					noteFiring(out, rule.(*rules.AlertingRule), at, at+time.Minute >= length)
				}
			}
		})
	}
	return out
}

func noteFiring(out map[string]*firing, rule *rules.AlertingRule, at time.Duration, end bool) {
	for _, alert := range rule.ActiveAlerts() {
		if alert.State != rules.StateFiring {
			continue
		}
		if out[rule.Name()] == nil {
			out[rule.Name()] = &firing{first: at}
		}
		of := out[rule.Name()]
		of.last, of.atEnd = at, end
		of.texts = append(of.texts, alert.Annotations.Get("summary"))
	}
}

// queryRange evaluates an expression over all of the loaded series.
func queryRange(t *testing.T, loaded *promqltest.LazyLoader, expression string, length time.Duration) promql.Matrix {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, 50_000_000)
	query, err := engine.NewRangeQuery(context.Background(), loaded.Queryable(), nil, expression, time.Unix(0, 0),
		time.Unix(0, 0).Add(length), time.Minute)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	result := query.Exec(context.Background())
	if result.Err != nil {
		t.Fatalf("%s: %v", expression, result.Err)
	}
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return matrix
}
