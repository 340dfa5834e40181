package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestBench makes and deletes a cluster of one machine with our manager as a provider that is brought along, and compares the figures
// with the simulator's log, which stays.
func TestBench(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	folder := t.TempDir()
	figures, page := filepath.Join(folder, "figures.json"), filepath.Join(folder, "page.html")
	t.Log(l.runProgram("lab", "bench", "deletion", "--clusters=1", "--machines=1", "--time-scale=0", "--rest=0s", "--base-port="+strconv.Itoa(l.port),
		"--json="+figures, "--html="+page, "--name=brought",
		"--components="+filepath.Join(l.root, "out", "infrastructure-azure", settings.ProviderVersion, "infrastructure-components.yaml"),
		"--provider="+l.binaryPath("manager")+" --kubeconfig=$KUBECONFIG --webhook-port=$WEBHOOK_PORT --webhook-cert-dir=$WEBHOOK_CERT_DIR "+
			"--health-addr=$HEALTH_ADDRESS --diagnostics-address=$DIAGNOSTICS_ADDRESS"))
	runs, err := bench.ReadRuns(figures)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(page); err != nil || !strings.Contains(string(raw), "brought") {
		t.Errorf("the page does not name the provider: %v", err)
	}
	if len(runs) != 1 || len(runs[0].Phases) != 2 {
		t.Fatalf("%d runs, want one of two phases", len(runs))
	}
	for _, phase := range runs[0].Phases {
		if diff := cmp.Diff(l.countLogged(phase), phase.Azure.Classes); diff != "" {
			t.Errorf("requests of the phase %s (-log +figures):\n%s", phase.Name, diff)
		}
		if phase.WallSeconds <= 0 || phase.Process.CPUSeconds <= 0 || phase.Process.PeakMiB <= 0 || phase.Reconciliations == nil ||
			phase.Kubernetes.CountWrites() == 0 {
			t.Errorf("phase %s lacks figures: %+v", phase.Name, phase)
		}
	}
	made, deleted := runs[0].Phases[0], runs[0].Phases[1]
	if made.Azure.Writes < 10 || made.Azure.Deletes > 0 || made.CriticalSeconds <= 0 || deleted.Azure.Deletes == 0 {
		t.Errorf("made with %+v over %v s, deleted with %+v", made.Azure.Classes, made.CriticalSeconds, deleted.Azure.Classes)
	}
	if _, err := settings.Load(l.dir); err == nil {
		t.Error("the lab of the bench still exists")
	}
}

// countLogged counts the requests to Resource Manager that the simulator's log has of a phase, by their methods alone.
func (l *lab) countLogged(phase bench.Phase) (out bench.Classes) {
	l.t.Helper()
	raw, err := os.ReadFile(filepath.Join(l.dir, "requests.jsonl"))
	if err != nil {
		l.t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var request struct {
			Time                   time.Time
			Method, URL, UserAgent string
		}
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			l.t.Fatal(err)
		}
		if request.Time.Before(phase.Begun) || !request.Time.Before(phase.Ended) || !strings.HasPrefix(request.URL, "/subscriptions") ||
			request.UserAgent == "lab" {
			continue
		}
		switch request.Method {
		case "GET":
			out.Reads++
		case "DELETE":
			out.Deletes++
		default:
			out.Writes++
		}
	}
	return out
}
