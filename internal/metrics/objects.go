package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// ObjectState is the state of an object of a kind. State and Reason are of a few fixed words, never a message.
type ObjectState struct {
	Kind, State, Reason string
	// Since is when the object entered the state; zero if that is not known, which counts as no time.
	Since time.Time
	// Drifted is set if the object differs from its resources in Azure.
	Drifted bool
}

// objects collects the states of all objects at each scrape, so that an object that is gone leaves no series behind.
type objects struct {
	count, oldest, drifted *prometheus.Desc
	source                 atomic.Pointer[func() []ObjectState]
}

var states = &objects{
	count: prometheus.NewDesc("capz_objects", "Objects of the provider, by kind, state and reason of the condition Ready.",
		[]string{"kind", "state", "reason"}, nil),
	oldest: prometheus.NewDesc("capz_object_state_oldest_age_seconds",
		"Time for which the object that entered the state first has been in it, by kind, state and reason of the condition Ready.",
		[]string{"kind", "state", "reason"}, nil),
	drifted: prometheus.NewDesc("capz_objects_drifted",
		"Objects with resources that differ from the spec and that the provider does not repair, by kind.", []string{"kind"}, nil),
}

// WatchObjects sets the source of the states of objects. A process has one manager; a later call replaces the source.
func WatchObjects(source func() []ObjectState) { states.source.Store(&source) }

// Describe implements prometheus.Collector.
func (o *objects) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- o.count
	descriptions <- o.oldest
	descriptions <- o.drifted
}

// Collect implements prometheus.Collector.
func (o *objects) Collect(out chan<- prometheus.Metric) {
	source := o.source.Load()
	if source == nil {
		return
	}
	type labels struct{ kind, state, reason string }
	now := time.Now()
	count, oldest, drifted := map[labels]int{}, map[labels]time.Duration{}, map[string]int{}
	for _, object := range (*source)() {
		of := labels{object.Kind, object.State, object.Reason}
		count[of]++
		if oldest[of] += 0; !object.Since.IsZero() {
			oldest[of] = max(oldest[of], now.Sub(object.Since))
		}
		if drifted[object.Kind] += 0; object.Drifted {
			drifted[object.Kind]++
		}
	}
	for of, n := range count {
		out <- prometheus.MustNewConstMetric(o.count, prometheus.GaugeValue, float64(n), of.kind, of.state, of.reason)
	}
	for of, age := range oldest {
		out <- prometheus.MustNewConstMetric(o.oldest, prometheus.GaugeValue, age.Seconds(), of.kind, of.state, of.reason)
	}
	for kind, n := range drifted {
		out <- prometheus.MustNewConstMetric(o.drifted, prometheus.GaugeValue, float64(n), kind)
	}
}
