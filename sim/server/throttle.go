package server

import (
	"math"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Throttle are the limits of requests: the token buckets of Azure Resource Manager, per principal and subscription, and those of
// resource providers. The simulator is one of Resource Manager's regions, which is where its buckets are.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
type Throttle struct {
	Reads, Writes, Deletes                   float64 // bucket sizes
	ReadsPerSec, WritesPerSec, DeletesPerSec float64 // refill
	// Whole is the factor by which all principals together may send more requests to a subscription than one; 0 means
	// no limit.
	Whole float64
	// Providers makes Microsoft.Compute and Microsoft.Network limit requests as well. It is a factor on their limits
	// per subscription and region; with 0 they have no limit.
	Providers float64
}

// AzureThrottle are Azure's own figures.
var AzureThrottle = Throttle{Reads: 250, Writes: 200, Deletes: 200, ReadsPerSec: 25, WritesPerSec: 10, DeletesPerSec: 10, Whole: 15,
	Providers: 1}

// limitOf returns the bucket of a kind of requests.
func (t Throttle) limitOf(kind string) limit {
	switch kind {
	case "deletes":
		return limit{size: t.Deletes, rate: t.DeletesPerSec}
	case "writes":
		return limit{size: t.Writes, rate: t.WritesPerSec}
	}
	return limit{size: t.Reads, rate: t.ReadsPerSec}
}

// limit is a number of requests. With rate it is a token bucket refilled at rate tokens per second; with window, it is the number of
// requests per window.
type limit struct {
	key    string
	size   float64
	rate   float64
	window time.Duration
}

// limiter counts requests against limits.
type limiter struct {
	mu     sync.Mutex
	clock  store.Clock
	scale  float64
	limits *Throttle // nil: none
	counts map[string]*count
}

// count is the number of requests left of a limit: in a bucket at a time, or in a window that began at a time.
type count struct {
	left float64
	at   time.Time
}

func newLimiter(o Options) *limiter {
	l := &limiter{clock: o.Clock, scale: o.TimeScale, limits: o.Throttle, counts: map[string]*count{}}
	_, virtual := o.Clock.(*store.Virtual)
	if o.Throttle == nil && !virtual && o.TimeScale > 0 {
		l.limits = &AzureThrottle
	}
	if virtual || o.TimeScale <= 0 {
		l.scale = 1
	}
	return l
}

// takeFrom counts a request against limits, unless one of them is used up: short is the index of that limit, and wait
// (not scaled) the time until it has a request again. left has the remaining requests of each.
func (l *limiter) takeFrom(limits ...limit) (left []int, short int, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	counts := make([]*count, len(limits))
	left, short = make([]int, len(limits)), -1
	for i, limit := range limits {
		counts[i] = l.countOf(limit, now)
		if counts[i].left >= 1 || wait > 0 {
			continue
		}
		short, wait = i, time.Duration((1-counts[i].left)/limit.rate*float64(time.Second))
		if limit.window > 0 {
			wait = limit.window - l.scaledSince(counts[i].at, now)
		}
	}
	for i, count := range counts {
		if short < 0 {
			count.left--
		}
		left[i] = int(count.left)
	}
	return left, short, wait
}

// scaledSince returns the time since at. Time runs 1/scale times as fast as on Azure, and so do refills.
func (l *limiter) scaledSince(at, now time.Time) time.Duration {
	return time.Duration(float64(now.Sub(at)) / l.scale)
}

// countOf returns the requests left of a limit at this time.
func (l *limiter) countOf(limit limit, now time.Time) *count {
	c := l.counts[limit.key]
	if c == nil {
		l.dropFull(now)
		c = &count{left: limit.size, at: now}
		l.counts[limit.key] = c
	}
	if c.at.After(now) {
		c.at = now // A clock that was set back takes nothing away.
	}
	switch passed := l.scaledSince(c.at, now); {
	case limit.window == 0:
		c.left, c.at = math.Min(limit.size, c.left+passed.Seconds()*limit.rate), now
	case passed >= limit.window:
		c.left, c.at = limit.size, now
	}
	return c
}

// dropFull removes the counts that have not been used for so long that they are full again. It runs only when there are
// many counts.
func (l *limiter) dropFull(now time.Time) {
	if len(l.counts)%1024 != 1023 {
		return
	}
	for key, c := range l.counts {
		if l.scaledSince(c.at, now) > 10*time.Minute {
			delete(l.counts, key)
		}
	}
}
