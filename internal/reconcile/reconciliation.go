package reconcile

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// reconciliation is one call of Reconcile for one object.
type reconciliation[O Object, I any] struct {
	*Runner[O, I]
	key    client.ObjectKey
	object O
	target Target
	in     *I
	// changes tracks the changes to the object, recording collects its events.
	changes   *patch.Changes
	recording *eventlog.Recording
	// changesAt is when a schedule changes what is asked of the object's VMs; zero for never.
	changesAt time.Time
	// failureShown is set when the object shows the error of the reconciliation.
	failureShown bool
	// converged is set once Azure was asked for the resources, unread when one of them could not be read.
	converged, unread bool
	// incomplete is set when the reconciliation ended in good order before it compared the spec with Azure.
	incomplete bool
	// deletionBlocker returns the ways out of a blocked deletion; nil for a LocalKind.
	deletionBlocker func() deletion.Blocker
}

func (p *reconciliation[O, I]) isDeleting() bool { return !p.object.GetDeletionTimestamp().IsZero() }

// recordResult emits the events, and counts the time until the object became ready.
func (p *reconciliation[O, I]) recordResult() {
	p.recording.EmitEvents()
	if !p.target.WasProvisioned && !p.isDeleting() && conditions.IsTrue(p.object, infrav1.ReadyCondition) {
		p.Work.ObserveTimeToReady(p.declaration.Name, p.Now().Sub(p.object.GetCreationTimestamp().Time).Seconds())
	}
}

// recordMetrics counts a reconciliation.
func (r *Runner[O, I]) recordMetrics(begun time.Time, ended resultKind, err error) {
	switch {
	case apierrors.IsConflict(err):
		ended = resultNothing // Another program has changed the object, and the newer version is reconciled next.
	case err != nil:
		ended = resultError
	}
	r.Work.CountReconciliation(r.declaration.Name, string(ended), r.Now().Sub(begun).Seconds())
}
