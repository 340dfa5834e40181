package engine

import "sigs.k8s.io/cluster-api-provider-azure/internal/arm"

// presence records whether a resource exists and whether this process created it.
type presence struct {
	// createdHere means that a PUT of this process created the existing resource.
	createdHere bool
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

// awaitedQuota returns the resource that needs write quota first, "" for none.
func (p presence) awaitedQuota() arm.ID {
	if !p.absent {
		return ""
	}
	return p.quotaHolder
}
