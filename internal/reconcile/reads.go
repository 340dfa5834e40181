package reconcile

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// noteReads stores for recordRead that the reconciliation read Azure, and whether a read failed.
func (p *reconciliation[O, I]) noteReads(outcome arm.Outcome) {
	p.converged = true
	p.unread = slices.ContainsFunc(outcome.Results, func(result arm.Result) bool { return result.ReadFailed })
}

// recordRead records whether a reconciliation has read the resources of its object in Azure. p is nil if there was nothing to do.
func (r *Runner[O, I]) recordRead(key client.ObjectKey, p *reconciliation[O, I], ended resultKind, err error) {
	if !r.asksAzure {
		return
	}
	kind, object, now := r.declaration.Name, key.String(), r.Now()
	if err != nil {
		// An error of the API server of Kubernetes after Azure was read is no outage of Azure. One before that tells nothing.
		switch {
		case p == nil || !p.converged:
		case p.unread:
			r.Reads.RecordFailure(kind, object, now)
		default:
			r.Reads.RecordSuccess(kind, object, now)
		}
		return
	}
	switch ended {
	case resultQuiet:
	case resultUnread:
		r.Reads.RecordFailure(kind, object, now)
	case resultSettled, resultProgressing, resultAgain, resultStopped:
		if p != nil && p.unread {
			r.Reads.RecordFailure(kind, object, now)
			return
		}
		r.Reads.RecordSuccess(kind, object, now)
	default:
		// The object is gone, paused, refused, or waits for another object, so nothing has to be read.
		r.Reads.Forget(kind, object)
	}
}
