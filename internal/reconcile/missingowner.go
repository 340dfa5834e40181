package reconcile

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/annotations"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// ownerPatience is the age at which an object without owner shows that. Cluster API creates machines and pools first and sets their owner
// in the next second or two: it would look like a fault of each new machine, and cost a write for each.
const ownerPatience = 5 * time.Second

// reportMissingOwner shows in Ready and in an event which owner an object lacks. A new object is reported later: it returns after which
// time. An object that was Ready stays so and is marked LastSeen. A paused object and one that is being deleted stay as they are.
func (p *reconciliation[O, I]) reportMissingOwner(ctx context.Context, missing *stopReason) (after time.Duration, err error) {
	// A clock that is behind the API server's makes no difference: such an object is reported at once.
	if age := p.Now().Sub(p.object.GetCreationTimestamp().Time); age >= 0 && age < ownerPatience {
		return ownerPatience - age, nil
	}
	p.eventRecorder.Eventf(p.object, nil, corev1.EventTypeNormal, missing.eventReason, "Reconcile", "%s", missing.condition.Message)
	if p.isDeleting() || annotations.HasPaused(p.object) {
		return 0, nil
	}
	changes := patch.TrackChanges(p.Client, p.object)
	status.SetCondition(p.object, metav1.Condition{
		Type: infrav1.ReadyCondition, Status: metav1.ConditionUnknown, Reason: missing.eventReason, Message: missing.condition.Message,
	})
	return 0, changes.Finish(ctx)
}
