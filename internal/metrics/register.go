package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// collectors are all metrics of the provider.
var collectors = []prometheus.Collector{
	reconciliationDuration, timeToReady, statusWritesFailed, postponed,
	requests, throttled, heldBack, requestDuration, operationDuration, underWay, lookups,
	drifted, repaired, repeated, kept, observed, states, lastReads, requestBudgets,
}

func init() { metrics.Registry.MustRegister(collectors...) }
