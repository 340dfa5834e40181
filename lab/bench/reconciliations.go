package bench

import (
	"bufio"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Reconciliations are the calls of Reconcile of all controllers, from the metrics that controller-runtime serves.
type Reconciliations struct {
	Count int `json:"count"`
	// P50, P90 and P99 are percentiles of how long they took, in seconds.
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// histogram are counts of reconciliations by the upper bound of their length in seconds, each with those below.
type histogram map[float64]float64

const passMetric = "controller_runtime_reconcile_time_seconds_bucket{"

// readReconciliations adds the histograms of all controllers up. It is empty when there are none.
func readReconciliations(metrics string) histogram {
	out := histogram{}
	lines := bufio.NewScanner(strings.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		labels, ok := strings.CutPrefix(lines.Text(), passMetric)
		if !ok {
			continue
		}
		_, bound, _ := strings.Cut(labels, `le="`)
		bound, rest, ok := strings.Cut(bound, `"`)
		le, err := strconv.ParseFloat(bound, 64)
		value, err2 := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if !ok || err != nil || err2 != nil {
			continue
		}
		out[le] += value
	}
	return out
}

// subtractBefore returns what came to the histogram after before. A process that was started anew begins at nothing.
func (h histogram) subtractBefore(before histogram) histogram {
	out := histogram{}
	anew := h[math.Inf(1)] < before[math.Inf(1)]
	for bound, count := range h {
		out[bound] = count
		if !anew {
			out[bound] -= before[bound]
		}
	}
	return out
}

// summarizeReconciliations are nil when there were none, or the provider serves no such metrics.
func (h histogram) summarizeReconciliations() *Reconciliations {
	all := h[math.Inf(1)]
	if all <= 0 {
		return nil
	}
	return &Reconciliations{Count: int(all), P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99)}
}

// quantile is interpolated in its bucket, as Prometheus does. One that is over the largest bound is that bound.
func (h histogram) quantile(q float64) float64 {
	var bounds []float64
	for bound := range h {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	rank, lower, below := q*h[math.Inf(1)], 0.0, 0.0
	for _, bound := range bounds {
		if count := h[bound]; count >= rank {
			if math.IsInf(bound, 1) || count == below {
				return lower
			}
			return lower + (bound-lower)*(rank-below)/(count-below)
		}
		lower, below = bound, h[bound]
	}
	return lower
}
