package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
)

// operations collects the running operations at each scrape, so that the age of a hanging operation is visible while it hangs.
type operations struct {
	count, oldest *prometheus.Desc
	source        atomic.Pointer[func() map[*operate.Operation]time.Duration]
}

var underWay = &operations{
	count: prometheus.NewDesc("capz_azure_operations", "Writes and actions of the provider that are running in Azure.",
		[]string{"resource_type", "operation"}, nil),
	oldest: prometheus.NewDesc("capz_azure_operation_oldest_age_seconds", "Age of the oldest write or action that is running in Azure.",
		[]string{"resource_type", "operation"}, nil),
}

// WatchOperations sets the source of the running operations. A process has one engine; a later call replaces the source.
func WatchOperations(source func() map[*operate.Operation]time.Duration) {
	underWay.source.Store(&source)
}

// Describe implements prometheus.Collector.
func (o *operations) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- o.count
	descriptions <- o.oldest
}

// Collect implements prometheus.Collector.
func (o *operations) Collect(out chan<- prometheus.Metric) {
	source := o.source.Load()
	if source == nil {
		return
	}
	type labels struct{ resourceType, operation string }
	count, oldest := map[labels]int{}, map[labels]time.Duration{}
	for op, age := range (*source)() {
		of := labels{resourceTypeLabel(op.ID), operationLabel(op)}
		count[of]++
		oldest[of] = max(oldest[of], age)
	}
	for of, n := range count {
		out <- prometheus.MustNewConstMetric(o.count, prometheus.GaugeValue, float64(n), of.resourceType, of.operation)
		out <- prometheus.MustNewConstMetric(o.oldest, prometheus.GaugeValue, oldest[of].Seconds(), of.resourceType, of.operation)
	}
}
