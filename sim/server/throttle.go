package server

import (
	"math"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// limiter holds Azure Resource Manager's token buckets per principal, subscription and kind of request.
type limiter struct {
	mu      sync.Mutex
	clock   store.Clock
	scale   float64
	limits  *Throttle
	buckets map[string]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

func newLimiter(o Options) *limiter {
	l := &limiter{clock: o.Clock, scale: o.TimeScale, limits: o.Throttle, buckets: map[string]*bucket{}}
	_, virtual := o.Clock.(*store.Virtual)
	if o.Throttle == nil && !virtual && o.TimeScale > 0 {
		l.limits = &AzureThrottle
	}
	if virtual || o.TimeScale <= 0 {
		l.scale = 1
	}
	return l
}

// take uses one token. left is what remains; wait is how long until there is one again when there is none (not scaled), and why names the bucket.
func (l *limiter) take(method, principal, subscription string) (left int, why string, wait time.Duration) {
	var size, rate float64
	kind := "reads"
	t := AzureThrottle
	if l.limits != nil {
		t = *l.limits
	}
	switch method {
	case "DELETE":
		size, rate, kind = t.Deletes, t.DeletesPerSec, "deletes"
	case "PUT", "POST", "PATCH":
		size, rate, kind = t.Writes, t.WritesPerSec, "writes"
	default:
		size, rate = t.Reads, t.ReadsPerSec
	}
	if l.limits == nil {
		return int(size) - 1, kind, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	key := principal + "/" + subscription + "/" + kind
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: size, at: now}
		l.buckets[key] = b
	}
	// Time runs 1/scale times as fast as on Azure, and so do the refills.
	b.tokens = math.Min(size, b.tokens+now.Sub(b.at).Seconds()*rate/l.scale)
	b.at = now
	if b.tokens < 1 {
		return 0, kind, time.Duration((1 - b.tokens) / rate * float64(time.Second))
	}
	b.tokens--
	return int(b.tokens), kind, 0
}
