package fleet_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// work is what the managers of this process have done since it began.
type work struct {
	reconciliations uint64
	// waited has how many reconciliations waited in a queue for at most as many seconds.
	waited map[float64]uint64
}

// readWork reads the metrics of the work queues.
func readWork(t *testing.T) work {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := work{waited: map[float64]uint64{}}
	for _, family := range families {
		if family.GetName() != "workqueue_queue_duration_seconds" {
			continue
		}
		for _, metric := range family.GetMetric() {
			out.reconciliations += metric.GetHistogram().GetSampleCount()
			for _, bucket := range metric.GetHistogram().GetBucket() {
				out.waited[bucket.GetUpperBound()] += bucket.GetCumulativeCount()
			}
		}
	}
	return out
}

// since returns the work after an earlier reading.
func (w work) since(before work) work {
	out := work{reconciliations: w.reconciliations - before.reconciliations, waited: map[float64]uint64{}}
	for bound, count := range w.waited {
		out.waited[bound] = count - before.waited[bound]
	}
	return out
}

// String has the lowest known bound of the longest wait.
func (w work) String() string {
	bound := -1.0
	for each, count := range w.waited {
		if count == w.reconciliations && (bound < 0 || each < bound) {
			bound = each
		}
	}
	if bound < 0 {
		return fmt.Sprintf("%d reconciliations, waits in the queue %v", w.reconciliations, w.waited)
	}
	return fmt.Sprintf("%d reconciliations, at most %g s in the queue", w.reconciliations, bound)
}
