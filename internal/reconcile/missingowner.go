package reconcile

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/annotations"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// reportMissingOwner shows in Ready and in an event which owner an object lacks. An object that was Ready stays so and is marked
// LastSeen. A paused object and one that is being deleted stay as they are, and so does one that is older than its last write.
func (p *reconciliation[O, I]) reportMissingOwner(ctx context.Context, missing *stopReason) error {
	p.eventRecorder.Eventf(p.object, nil, corev1.EventTypeNormal, missing.eventReason, "Reconcile", "%s", missing.condition.Message)
	if p.isDeleting() || annotations.HasPaused(p.object) {
		return nil
	}
	if stale, err := p.writes.IsStale(ctx, p.Client, p.object); err != nil || stale {
		return err
	}
	changes := patch.TrackChanges(p.Client, p.writes, p.object)
	status.SetCondition(p.object, metav1.Condition{
		Type: infrav1.ReadyCondition, Status: metav1.ConditionUnknown, Reason: missing.eventReason, Message: missing.condition.Message,
	})
	return changes.Finish(ctx)
}
