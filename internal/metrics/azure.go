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
	requests = newCounter("capz_azure_requests_total",
		"Requests to Azure Resource Manager, by operation, resource type and HTTP status (none if there was no response).",
		"operation", "resource_type", "code")
	throttled = newCounter("capz_azure_requests_throttled_total", "Requests that Azure Resource Manager refused because there were too many.",
		"operation", "resource_type")
	heldBack = newCounter("capz_azure_requests_held_back_total",
		"Requests that were not sent, because Azure throttles requests or the provider's own budget is used up.",
		"operation", "resource_type")
	requestDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_azure_request_duration_seconds", Help: "Duration of requests to Azure Resource Manager, by operation.",
		// Up to the client's time limit.
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	}, []string{"operation"})
	operationDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "capz_azure_operation_duration_seconds",
		Help: "Duration of writes and actions of the provider in Azure, from the request to the end of the operation.",
		// A subnet takes a second, a machine half a minute, an AKS cluster minutes, its upgrade an hour.
		Buckets: []float64{1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600},
	}, []string{"resource_type", "operation", "result"})
	drifted  = newCounter("capz_drift_found_total", "Resources that matched the spec and no longer do.", "resource_type")
	repaired = newCounter("capz_drift_repaired_total", "Drifted resources that a write of the provider has repaired.", "resource_type")
	repeated = newCounter("capz_drift_repeated_total", "Repairs of resources that were repaired within the twelve sync periods before, too.", "resource_type")
	kept     = newCounter("capz_residuals_total", "Values that Azure stores differently than they were sent, so that they are not sent again.",
		"resource_type")
	lookups = newCounter("capz_azure_cache_lookups_total",
		"Lookups in the cache of recent reads from Azure: hit, miss, or bypass if a fresh response was required.", "result")
)

func newCounter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// other is the label of resource types that the engine does not know, for example those of facts or those that users name. User
// input must not become a label.
const other = "other"

func resourceTypeLabel(id arm.ID) string {
	row, err := types.ForID(id)
	if err != nil {
		return other
	}
	return row.Name
}

// CountRequest counts a request to Azure.
func (w Work) CountRequest(answered client.RequestRecord) {
	if w.Uncounted {
		return
	}
	operation, resourceType := answered.Operation, resourceTypeLabel(answered.ID)
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

// EngineHooks returns hooks that count the work of an engine.
func (w Work) EngineHooks() engine.Hooks {
	if w.Uncounted {
		return engine.Hooks{}
	}
	return engine.Hooks{
		OnCacheRead: func(look observe.CacheResult) { lookups.WithLabelValues(string(look)).Inc() },
		OnOperationEnd: func(op *operate.Operation, took time.Duration, err error) {
			result := "succeeded"
			if err != nil {
				result = "failed"
			}
			operationDuration.WithLabelValues(resourceTypeLabel(op.ID), operationLabel(op), result).Observe(took.Seconds())
		},
		OnDrift: func(id arm.ID) { drifted.WithLabelValues(resourceTypeLabel(id)).Inc() },
		OnRepair: func(id arm.ID, again bool) {
			repaired.WithLabelValues(resourceTypeLabel(id)).Inc()
			if again {
				repeated.WithLabelValues(resourceTypeLabel(id)).Inc()
			}
		},
		OnNormalized: func(id arm.ID, values int) { kept.WithLabelValues(resourceTypeLabel(id)).Add(float64(values)) },
	}
}

// operationLabel returns the label of an operation.
func operationLabel(op *operate.Operation) string {
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
