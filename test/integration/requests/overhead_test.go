package requests_test

import (
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// seeds are how many times TestOverhead draws how long Azure takes.
const seeds = 24

// TestOverhead compares the time until clusters are ready with the critical path, which is the longest chain of Azure's times for
// resources that need each other. Only the provider's waiting counts: computing takes no virtual time.
func TestOverhead(t *testing.T) {
	for name, test := range map[string]struct {
		make func(w *world)
		most float64
		// writes are how many each takes, and reads how many on average at most.
		writes, reads int
	}{
		"network of the default flavor": {func(w *world) {
			c := w.AzureCluster("c1")
			w.CreateCluster(c)
			w.WaitReady(&infrav1.AzureCluster{}, c.Name)
		}, 1.06, 11, 40},
		"AKS":                 {func(w *world) { w.BuildAKSCluster("aks1", 2) }, 1.06, 4, 25},
		"AKS with five pools": {func(w *world) { w.BuildAKSCluster("aks1", 5) }, 1.06, 4, 27},
	} {
		t.Run(name, func(t *testing.T) {
			sum, reads := 0.0, 0
			playDraws(t, seeds, func(w *world) {
				begun := time.Now()
				test.make(w)
				took, critical := time.Since(begun), w.criticalPath()
				sum += float64(took) / float64(critical)
				made := w.countSince(0)
				reads += made.reads
				w.T.Logf("%.1f s over a critical path of %.1f s: %.3f; %s", took.Seconds(), critical.Seconds(), float64(took)/float64(critical), made)
				if made.writes != test.writes {
					w.T.Errorf("%d writes, want %d", made.writes, test.writes)
				}
			})
			mean := sum / seeds
			t.Logf("%.3f times the critical path with %.1f reads", mean, float64(reads)/seeds)
			if mean > test.most || reads > test.reads*seeds {
				t.Errorf("it takes %.3f times the critical path with %.1f reads, want at most %.2f with %d", mean, float64(reads)/seeds, test.most,
					test.reads)
			}
		})
	}
}

// criticalPath is that of all writes so far.
func (w *world) criticalPath() time.Duration {
	var requests []schedule.Request
	for _, r := range w.Azure.Requests() {
		if strings.HasPrefix(r.URL, "/subscriptions/") {
			requests = append(requests,
				schedule.Request{Time: r.Time, Method: r.Method, URL: r.URL, Status: r.Status, DurationMs: r.DurationMs, OperationID: r.OperationID})
		}
	}
	var operations []schedule.Operation
	for _, o := range w.Azure.Operations() {
		operations = append(operations,
			schedule.Operation{ID: o.ID, ResourceID: o.ResourceID, Verb: o.Verb, Started: o.Started, Ended: o.Ended, Status: o.Status})
	}
	var bodies []any
	for _, object := range w.Azure.State() {
		bodies = append(bodies, object)
	}
	_, critical := schedule.CriticalPath(schedule.BuildSchedule(requests, operations, schedule.FindReferences(bodies)))
	return critical
}
