package metrics

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Queue counts the work of a controller's queue in the metrics workqueue_* of controller-runtime.
type Queue struct {
	controller            string
	depth                 *prometheus.GaugeVec
	adds, retries         prometheus.Counter
	latency, workDuration prometheus.Observer
	unfinished, longest   prometheus.Gauge
}

// NewQueue returns the metrics of the work queue of a controller.
func NewQueue(controller string) *Queue {
	of := queueMetrics()
	return &Queue{
		controller: controller, depth: of.depth,
		adds: of.adds.WithLabelValues(controller, controller), retries: of.retries.WithLabelValues(controller, controller),
		latency: of.latency.WithLabelValues(controller, controller), workDuration: of.workDuration.WithLabelValues(controller, controller),
		unfinished: of.unfinished.WithLabelValues(controller, controller), longest: of.longest.WithLabelValues(controller, controller),
	}
}

// CountReady counts a request that became ready.
func (q *Queue) CountReady(priority int) {
	q.adds.Inc()
	q.depthOf(priority).Inc()
}

// ChangePriority counts a ready request whose priority changed.
func (q *Queue) ChangePriority(from, to int) {
	q.depthOf(from).Dec()
	q.depthOf(to).Inc()
}

// CountRetry counts a request that was added with a delay.
func (q *Queue) CountRetry() { q.retries.Inc() }

// CountHandOut counts a request that a worker got, and the time that it was ready before.
func (q *Queue) CountHandOut(priority int, waited time.Duration) {
	q.depthOf(priority).Dec()
	q.latency.Observe(waited.Seconds())
}

// ObserveWork counts a request that a worker has finished, and the duration.
func (q *Queue) ObserveWork(took time.Duration) { q.workDuration.Observe(took.Seconds()) }

// SetWorking sets the durations of the requests that workers are processing: their sum and the longest.
func (q *Queue) SetWorking(all, longest time.Duration) {
	q.unfinished.Set(all.Seconds())
	q.longest.Set(longest.Seconds())
}

func (q *Queue) depthOf(priority int) prometheus.Gauge {
	return q.depth.WithLabelValues(q.controller, q.controller, strconv.Itoa(priority))
}

type queueVectors struct {
	depth, unfinished, longest *prometheus.GaugeVec
	adds, retries              *prometheus.CounterVec
	latency, workDuration      *prometheus.HistogramVec
}

// queueMetrics returns the metrics that controller-runtime registers for its own queues and does not export. A registry returns a
// registered metric to those who register another one of the same name, text and labels. It is done when a queue is made, because
// controller-runtime registers its metrics in an init function, which panics if they are registered already.
// https://github.com/kubernetes-sigs/controller-runtime/blob/v0.24.1/pkg/internal/metrics/workqueue.go
var queueMetrics = sync.OnceValue(func() queueVectors {
	labels := []string{"name", "controller"}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return registerOnce(prometheus.NewGaugeVec(prometheus.GaugeOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help}, labels))
	}
	counter := func(name, help string) *prometheus.CounterVec {
		return registerOnce(prometheus.NewCounterVec(prometheus.CounterOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help},
			labels))
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		return registerOnce(prometheus.NewHistogramVec(prometheus.HistogramOpts{Subsystem: metrics.WorkQueueSubsystem, Name: name, Help: help},
			labels))
	}
	return queueVectors{
		depth: gauge(metrics.DepthKey, "Current depth of workqueue by workqueue and priority", append(labels, "priority")...),
		unfinished: gauge(metrics.UnfinishedWorkKey,
			"How many seconds of work has been done that is in progress and hasn't been observed by work_duration. Large "+
				"values indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.", labels...),
		longest: gauge(metrics.LongestRunningProcessorKey, "How many seconds has the longest running processor for workqueue been running.",
			labels...),
		adds: counter(metrics.AddsKey, "Total number of adds handled by workqueue"),
		retries: counter(metrics.RetriesKey,
			"Total number of items added to the workqueue with a non-zero delay (rate-limited requeues, explicit RequeueAfter or AddAfter calls)"),
		latency:      histogram(metrics.QueueLatencyKey, "How long in seconds an item stays in workqueue before being requested"),
		workDuration: histogram(metrics.WorkDurationKey, "How long in seconds processing an item from workqueue takes."),
	}
})

// registerOnce returns the metric that is registered already, or registers the new one. If controller-runtime changes its metric, the
// registry refuses the new one, whose values are then not served.
func registerOnce[M prometheus.Collector](metric M) M {
	var exists prometheus.AlreadyRegisteredError
	if errors.As(metrics.Registry.Register(metric), &exists) {
		if known, same := exists.ExistingCollector.(M); same {
			return known
		}
	}
	return metric
}
