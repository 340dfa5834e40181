package metrics

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reads has the time of the last successful read from Azure of each object whose resources the provider reads. Its methods may be called
// on nil. It is safe for concurrent use.
type Reads struct {
	mu sync.Mutex
	// at are the times, by kind and object.
	at map[string]map[string]time.Time
}

// NewReads returns a record without any object.
func NewReads() *Reads { return &Reads{at: map[string]map[string]time.Time{}} }

// RecordSuccess records a successful read of an object's resources.
func (r *Reads) RecordSuccess(kind, object string, now time.Time) { r.record(kind, object, now, true) }

// RecordFailure records a failed read. The time of the last successful read stays. That of an object that was never read is the first
// attempt.
func (r *Reads) RecordFailure(kind, object string, now time.Time) { r.record(kind, object, now, false) }

func (r *Reads) record(kind, object string, now time.Time, success bool) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at[kind] == nil {
		r.at[kind] = map[string]time.Time{}
	}
	if _, known := r.at[kind][object]; success || !known {
		r.at[kind][object] = now
	}
}

// Forget drops an object that is gone, or whose resources are not to be read, for example because it is paused.
func (r *Reads) Forget(kind, object string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.at[kind], object)
}

// OldestAges returns the longest time since the last successful read, by kind.
func (r *Reads) OldestAges(now time.Time) map[string]time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]time.Duration{}
	for kind, objects := range r.at {
		out[kind] = 0
		for _, at := range objects {
			out[kind] = max(out[kind], now.Sub(at))
		}
	}
	return out
}

// readAges collects the ages at each scrape, so that they grow while nothing is read.
type readAges struct {
	oldest *prometheus.Desc
	source atomic.Pointer[Reads]
}

var lastReads = &readAges{
	oldest: prometheus.NewDesc("capz_azure_read_oldest_age_seconds",
		"Longest time since the resources of an object were last read from Azure successfully, by kind. Paused and waiting objects do not count.",
		[]string{"kind"}, nil),
}

// WatchReads sets the record of reads. A process has one manager; a later call replaces the record.
func WatchReads(reads *Reads) { lastReads.source.Store(reads) }

// Describe implements prometheus.Collector.
func (a *readAges) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- a.oldest }

// Collect implements prometheus.Collector.
func (a *readAges) Collect(out chan<- prometheus.Metric) {
	reads := a.source.Load()
	if reads == nil {
		return
	}
	for kind, age := range reads.OldestAges(time.Now()) {
		out <- prometheus.MustNewConstMetric(a.oldest, prometheus.GaugeValue, age.Seconds(), kind)
	}
}
