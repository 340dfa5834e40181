package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

var (
	requests = counter("capz_azure_requests_total", "Requests to Azure Resource Manager, by what they did, type of resource and HTTP status (none without an answer).",
		"operation", "resource_type", "code")
	throttled = counter("capz_azure_requests_throttled_total", "Answers of Azure Resource Manager that there were too many requests.", "operation", "resource_type")
	heldBack  = counter("capz_azure_requests_held_back_total", "Requests that were not sent, because Azure throttles or the provider's own budget is used up.",
		"operation", "resource_type")
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_azure_request_duration_seconds", Help: "How long Azure Resource Manager took to answer requests, by what they did.",
		// Up to the client's time limit.
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"operation"})
	operationDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_azure_operation_duration_seconds", Help: "How long Azure was at writes and actions of the provider, from the request to their end.",
		// A subnet takes a second, a machine half a minute, an AKS cluster minutes, its upgrade an hour.
		Buckets: []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
	}, []string{"resource_type", "operation", "result"})
	drifted  = counter("capz_drift_found_total", "Resources that had been as wanted and were not any more.", "resource_type")
	repaired = counter("capz_drift_repaired_total", "Resources that had drifted and that a write of the provider has brought back.", "resource_type")
	kept     = counter("capz_residuals_total", "Values that were sent and that Azure keeps otherwise, so that they are not sent again.", "resource_type")
	lookups  = counter("capz_azure_cache_lookups_total", "Looks at what was read from Azure a moment ago: a hit, a miss, or bypassed by who wants a fresh answer.", "result")
)

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// other is the type of resources that the engine does not know, as of what facts ask about or users name: whatever they
// write must not become a label.
const other = "other"

func typeOf(id arm.ID) string {
	row, err := types.ForID(id)
	if err != nil {
		return other
	}
	return row.Name
}

// Request counts a request to Azure.
func Request(answered client.RequestRecord) {
	operation, resourceType := answered.Operation, typeOf(answered.ID)
	if answered.BudgetEmpty {
		heldBack.WithLabelValues(operation, resourceType).Inc()
		return
	}
	code := "none"
	if answered.Status > 0 {
		code = strconv.Itoa(answered.Status)
	}
	requests.WithLabelValues(operation, resourceType, code).Inc()
	requestDuration.WithLabelValues(operation).Observe(answered.Duration.Seconds())
	if answered.Throttled {
		throttled.WithLabelValues(operation, resourceType).Inc()
	}
}

// EngineHooks count what an engine does.
func EngineHooks() engine.Hooks {
	return engine.Hooks{
		OnCacheRead: func(look observe.CacheResult) { lookups.WithLabelValues(string(look)).Inc() },
		OnOperationEnd: func(op *operate.Operation, took time.Duration, err error) {
			result := "succeeded"
			if err != nil {
				result = "failed"
			}
			operationDuration.WithLabelValues(typeOf(op.ID), doing(op), result).Observe(took.Seconds())
		},
		OnDrift:      func(id arm.ID) { drifted.WithLabelValues(typeOf(id)).Inc() },
		OnRepair:     func(id arm.ID) { repaired.WithLabelValues(typeOf(id)).Inc() },
		OnNormalized: func(id arm.ID, values int) { kept.WithLabelValues(typeOf(id)).Add(float64(values)) },
	}
}

// doing is what an operation does.
func doing(op *operate.Operation) string {
	switch {
	case op.Action:
		return "action"
	case op.State == arm.Creating:
		return "create"
	case op.State == arm.Deleting:
		return "delete"
	}
	return "update"
}
