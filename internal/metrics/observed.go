package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// observedObjects collects the observed objects and the writes that they wait with.
type observedObjects struct {
	objects, drifted, writes *prometheus.Desc

	mu sync.Mutex
	// byKind are the numbers of writes, by kind and object.
	byKind map[string]map[string]int
}

var observed = &observedObjects{
	objects: prometheus.NewDesc("capz_observed_objects", "Objects that are observed, by kind. Nothing is written to Azure for them.",
		[]string{"kind"}, nil),
	drifted: prometheus.NewDesc("capz_observed_objects_drifted",
		"Observed objects for which something will be written to Azure when observing ends, by kind.", []string{"kind"}, nil),
	writes: prometheus.NewDesc("capz_observed_writes", "Writes to Azure that observed objects have planned, by kind.", []string{"kind"}, nil),
	byKind: map[string]map[string]int{},
}

// SetObserved records an observed object and the number of writes that it waits with.
func (w Work) SetObserved(kind, object string, writes int) {
	if w.Uncounted {
		return
	}
	observed.mu.Lock()
	defer observed.mu.Unlock()
	if observed.byKind[kind] == nil {
		observed.byKind[kind] = map[string]int{}
	}
	observed.byKind[kind][object] = writes
}

// ForgetObserved drops an object that is not observed any more, or is gone.
func (w Work) ForgetObserved(kind, object string) {
	if w.Uncounted {
		return
	}
	observed.mu.Lock()
	defer observed.mu.Unlock()
	delete(observed.byKind[kind], object)
}

// Describe implements prometheus.Collector.
func (o *observedObjects) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- o.objects
	descriptions <- o.drifted
	descriptions <- o.writes
}

// Collect implements prometheus.Collector.
func (o *observedObjects) Collect(out chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, objects := range o.byKind {
		drifted, writes := 0, 0
		for _, n := range objects {
			if writes += n; n > 0 {
				drifted++
			}
		}
		for description, value := range map[*prometheus.Desc]int{o.objects: len(objects), o.drifted: drifted, o.writes: writes} {
			out <- prometheus.MustNewConstMetric(description, prometheus.GaugeValue, float64(value), kind)
		}
	}
}
