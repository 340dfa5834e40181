package reconcile

import (
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// reconciliation is one pass over one object.
type reconciliation[O Object, I any] struct {
	*Runner[O, I]
	key    client.ObjectKey
	object O
	target Target
	in     *I
	// changes are those of the pass to the object, story what events tell of it.
	changes   *patch.Changes
	recording *eventlog.Recording
	// failureShown is set when the object shows the error of the pass.
	failureShown bool
	// deletionBlocker is what a person has to know who wants the object to go; nil of one that has nothing in Azure.
	deletionBlocker func() deletion.Blocker
}

func (p *reconciliation[O, I]) isDeleting() bool { return !p.object.GetDeletionTimestamp().IsZero() }

// recordResult tells what the pass changed.
func (p *reconciliation[O, I]) recordResult() {
	p.recording.EmitEvents()
	if !p.target.WasProvisioned && !p.isDeleting() && conditions.IsTrue(p.object, infrav1.ReadyCondition) {
		metrics.Ready(p.declaration.Name, time.Since(p.object.GetCreationTimestamp().Time).Seconds())
	}
}

// recordMetrics counts a pass.
func (r *Runner[O, I]) recordMetrics(begun time.Time, ended resultKind, err error) {
	if err != nil {
		ended = resultError
	}
	metrics.Pass(r.declaration.Name, string(ended), time.Since(begun).Seconds())
}
