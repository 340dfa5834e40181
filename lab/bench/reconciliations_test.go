package bench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const before = `# TYPE controller_runtime_reconcile_time_seconds histogram
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.01"} 5
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.1"} 5
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="+Inf"} 5
`

const after = `controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.01"} 45
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="0.1"} 75
controller_runtime_reconcile_time_seconds_bucket{controller="a",le="+Inf"} 75
controller_runtime_reconcile_time_seconds_bucket{controller="b",le="0.01"} 10
controller_runtime_reconcile_time_seconds_bucket{controller="b",le="0.1"} 28
controller_runtime_reconcile_time_seconds_bucket{controller="b",le="+Inf"} 30
controller_runtime_reconcile_time_seconds_sum{controller="b"} 3
`

// TestReconciliations summarizes a hundred reconciliations: 50 up to 10 ms, 48 up to 100 ms, and two that took longer.
func TestReconciliations(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, before, after string
		want                  *Reconciliations
	}{
		"those of the phase": {
			reason: "earlier reconciliations are not counted", before: before, after: after, want: &Reconciliations{Count: 100, P50: 0.01, P90: 0.085,
				P99: 0.1},
		},
		"after a restart": {
			reason: "a new process counts from nothing", before: after, after: before, want: &Reconciliations{Count: 5, P50: 0.005, P90: 0.009, P99: 0.0099},
		},
		"no such metrics": {reason: "the provider is no controller-runtime", after: "up 1\n"},
		"none":            {reason: "nothing happened", before: before, after: before},
	} {
		t.Run(name, func(t *testing.T) {
			got := readReconciliations(tc.after).subtractBefore(readReconciliations(tc.before)).summarizeReconciliations()
			if diff := cmp.Diff(tc.want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
