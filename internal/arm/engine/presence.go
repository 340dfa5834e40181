package engine

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/operate"
)

// presence records whether a resource exists and whether this process created it.
type presence struct {
	// createdHere means that a PUT of this process created the existing resource.
	createdHere bool
	// createdAt is when the last PUT of this process ended that has created the resource, or may have because it got no answer.
	createdAt time.Time
	// absent means that the last convergence found that the resource did not exist.
	absent bool
	// quotaHolder is the resource whose write quota has to come first before this one, which is absent, can be created; "" means none.
	quotaHolder arm.ID
}

// setAbsent records whether the current convergence found the resource absent.
func (p *presence) setAbsent(absent bool) {
	p.absent = absent
	if !absent {
		p.quotaHolder = ""
	}
}

// recordCreation records the end of a PUT for an absent resource. Without an answer Azure may carry out the PUT all the same, and later.
func (p *presence) recordCreation(err error, now time.Time) {
	if err == nil || arm.IsUnanswered(err) && !arm.IsBudgetEmpty(err) && !arm.IsThrottled(err) {
		p.createdAt = now
	}
}

// hiddenFor returns for how long an absent resource may still exist, because Azure may not show its creation yet.
func (p presence) hiddenFor(now time.Time) time.Duration {
	if p.createdAt.IsZero() {
		return 0
	}
	return max(0, operate.MaxShowDelay-now.Sub(p.createdAt))
}

// awaitedQuota returns the resource that needs write quota first, "" for none.
func (p presence) awaitedQuota() arm.ID {
	if !p.absent {
		return ""
	}
	return p.quotaHolder
}
