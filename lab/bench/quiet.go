package bench

import (
	"context"
	"slices"
	"time"
)

// What a bench waits for before it measures: quietFor without a write to the API server, and at most quietWithin, because a
// provider that never rests is to be measured, too.
const (
	quietFor    = 5 * time.Second
	quietWithin = 2 * time.Minute
)

// awaitQuiet waits for the end of the work that a management cluster does after its start. Cluster API writes every CRD
// anew then, and an API server that still fills its caches refuses watches, which would be measured as the provider's
// waiting.
func (r *runner) awaitQuiet(ctx context.Context) error {
	begin := time.Now()
	for {
		calls, err := readAudit(r.settings.AuditLog())
		if err != nil {
			return err
		}
		last := lastWrite(calls)
		if last.Before(begin) {
			last = begin
		}
		now := time.Now()
		switch {
		case now.Sub(last) >= quietFor:
			r.Report("nothing is written to Kubernetes any more")
			return nil
		case now.Sub(begin) >= quietWithin:
			r.Report("something is still written to Kubernetes after %s", quietWithin)
			return nil
		}
		if err := waitFor(ctx, last.Add(quietFor).Sub(now)); err != nil {
			return err
		}
	}
}

// lastWrite is when the API server was last asked to change something. Leases are renewed for ever, and reviews are no objects.
func lastWrite(calls []call) time.Time {
	var last time.Time
	for _, c := range calls {
		if slices.Contains(writing, c.Verb) && c.Object.Resource != "leases" && !c.isReview() && c.Received.After(last) {
			last = c.Received
		}
	}
	return last
}
