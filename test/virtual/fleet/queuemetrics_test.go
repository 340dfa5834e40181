package fleet_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// queueMetrics are figures of the work queues of all managers since the process began.
type queueMetrics struct {
	reconciliations uint64
	// waited has the number of reconciliations that waited in a queue for at most so many seconds.
	waited map[float64]uint64
}

// readQueueMetrics reads the metrics of the work queues.
func readQueueMetrics(t *testing.T) queueMetrics {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := queueMetrics{waited: map[float64]uint64{}}
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

// difference returns the metrics since an earlier reading.
func (w queueMetrics) difference(before queueMetrics) queueMetrics {
	out := queueMetrics{reconciliations: w.reconciliations - before.reconciliations, waited: map[float64]uint64{}}
	for bound, count := range w.waited {
		out.waited[bound] = count - before.waited[bound]
	}
	return out
}

// String has the lowest known bound of the longest wait.
func (w queueMetrics) String() string {
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
