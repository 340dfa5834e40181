package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	passDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_pass_duration_seconds",
		Help: "How long passes over objects took, by the object's kind and what the pass came to.",
		// A pass waits for answers of Azure and never for operations, so that few take longer than seconds.
		Buckets: []float64{.01, .05, .1, .5, 1, 2.5, 5, 10, 30},
	}, []string{"kind", "result"})
	statusWritesFailed = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "capz_status_writes_failed_total",
		Help: "Statuses that could not be written, by the object's kind: the object does not show what became of it.",
	}, []string{"kind"})
	timeToReady = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_time_to_ready_seconds",
		Help: "How long objects took from their creation until they were ready for the first time, by kind.",
		// Machines take a minute or two, AKS clusters up to a quarter of an hour, what waits for quota or a person longer.
		Buckets: []float64{15, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200},
	}, []string{"kind"})
)

// Pass counts a pass over an object of a kind. The result is one of a few fixed words, never a message.
func Pass(kind, result string, seconds float64) {
	passDuration.WithLabelValues(kind, result).Observe(seconds)
}

// StatusWriteFailed counts a status of an object of a kind that could not be written.
func StatusWriteFailed(kind string) { statusWritesFailed.WithLabelValues(kind).Inc() }

// Ready counts an object of a kind that has become ready for the first time, and how long that took from its creation.
func Ready(kind string, seconds float64) { timeToReady.WithLabelValues(kind).Observe(seconds) }
