package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	reconciliationDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_reconciliation_duration_seconds",
		Help: "Duration of reconciliations, by the object's kind and the result.",
		// A reconciliation waits for responses of Azure but never for operations, so few take longer than seconds.
		Buckets: []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 30},
	}, []string{"kind", "result"})
	statusWritesFailed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capz_status_writes_failed_total",
		Help: "Failed writes of an object's status, by kind. The status of the object is outdated.",
	}, []string{"kind"})
	postponed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capz_postponed_reconciliations_total",
		Help: "Reconciliations that waited because the manager's cache did not show its own last write yet, by kind and by the kind of the " +
			"written object.",
	}, []string{"kind", "written"})
	timeToReady = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_time_to_ready_seconds",
		Help: "Time from the creation of objects until they were ready for the first time, by kind.",
		// Machines take a minute or two, AKS clusters up to a quarter of an hour, objects that wait for quota or a user longer.
		Buckets: []float64{15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200},
	}, []string{"kind"})
)

// CountReconciliation counts a reconciliation of an object of a kind. The result is one of a few fixed words, never a message.
func (w Work) CountReconciliation(kind, result string, seconds float64) {
	if w.Uncounted {
		return
	}
	reconciliationDuration.WithLabelValues(kind, result).Observe(seconds)
}

// CountFailedStatusWrite counts a failed write of the status of an object of a kind.
func (w Work) CountFailedStatusWrite(kind string) {
	if w.Uncounted {
		return
	}
	statusWritesFailed.WithLabelValues(kind).Inc()
}

// CountPostponed counts a reconciliation of an object of a kind that waits until the cache shows the last write of an object of the kind
// written.
func CountPostponed(kind, written string) { postponed.WithLabelValues(kind, written).Inc() }

// ObserveTimeToReady counts an object of a kind that became ready for the first time, seconds after its creation.
func (w Work) ObserveTimeToReady(kind string, seconds float64) {
	if w.Uncounted {
		return
	}
	timeToReady.WithLabelValues(kind).Observe(seconds)
}
