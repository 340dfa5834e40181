package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// maxSubscriptions bounds the subscriptions with a series. Specs name subscriptions, so users could add as many as they like.
const maxSubscriptions = 100

// budgets collects the remaining request budgets at each scrape.
type budgets struct {
	remaining *prometheus.Desc
	source    atomic.Pointer[client.Budgets]
}

var requestBudgets = &budgets{
	remaining: prometheus.NewDesc("capz_azure_request_budget_remaining_ratio",
		"Remaining share of the budget of requests, 0 to 1, by subscription and class of requests. It is 0 while Azure throttles. "+
			"With several identities or regions it is the smallest share.", []string{"subscription", "class"}, nil),
}

// WatchBudgets sets the budgets. A process has one set of budgets; a later call replaces it. nil has none.
func WatchBudgets(of *client.Budgets) { requestBudgets.source.Store(of) }

// Describe implements prometheus.Collector.
func (b *budgets) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- b.remaining }

// Collect implements prometheus.Collector.
func (b *budgets) Collect(out chan<- prometheus.Metric) {
	for _, share := range b.source.Load().RemainingShares(maxSubscriptions) {
		out <- prometheus.MustNewConstMetric(b.remaining, prometheus.GaugeValue, share.Remaining, share.Subscription, share.Class)
	}
}
