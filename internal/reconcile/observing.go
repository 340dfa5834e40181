package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// observing is the mode of a reconciliation that writes nothing to Azure.
type observing struct {
	// causes are the settings that have the object observed. The object is not observed if there are none.
	causes []string
	// intended are the writes that the reconciliation would have sent. They are complete if known is set.
	intended []string
	known    bool
}

func (o *observing) isOn() bool { return len(o.causes) > 0 }

// describeCauses returns the settings that a user has to change to end observing.
func (o *observing) describeCauses() string { return strings.Join(o.causes, " and ") }

// readObserving finds out whether the object is observed. One cause is enough, so no setting can loosen another: a tenant may have its
// own objects observed, and cannot end observing that the operator of the manager or of the namespace has set.
func (a *azureReconciliation[O, I]) readObserving(ctx context.Context) error {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := client.IgnoreNotFound(a.Client.Get(ctx, client.ObjectKey{Name: a.key.Namespace}, namespace)); err != nil {
		return fmt.Errorf("get Namespace %s, whose annotation %s counts: %w", a.key.Namespace, infrav1.ObserveAnnotation, err)
	}
	a.observing.causes = nil
	if a.Observe {
		a.observing.causes = append(a.observing.causes, "the manager's flag --observe")
	}
	annotated := func(kind string, object metav1.Object) {
		if IsObserved(object) {
			a.observing.causes = append(a.observing.causes,
				fmt.Sprintf("the annotation %s on %s %s", infrav1.ObserveAnnotation, kind, object.GetName()))
		}
	}
	annotated("Namespace", namespace)
	if a.target.Cluster != nil {
		annotated("Cluster", a.target.Cluster)
	}
	annotated(a.declaration.Name, a.object)
	return nil
}

// IsObserved reports whether an object has the annotation. Every value but "false" counts, because a typing error must not cause a write.
func IsObserved(object metav1.Object) bool {
	value, ok := object.GetAnnotations()[infrav1.ObserveAnnotation]
	return ok && value != "false"
}

// awaitEndOfObserving ends the reconciliation of an observed object that is being deleted. It keeps its finalizer.
func (a *azureReconciliation[O, I]) awaitEndOfObserving() error {
	a.observing.known = true
	a.observing.intended = []string{"delete the resources of the object"}
	return WaitFor(metav1.Condition{
		Status: metav1.ConditionFalse, Reason: infrav1.ObservingReason,
		Message: "The object is observed, so its deletion waits and nothing is deleted in Azure. To continue, remove " +
			a.observing.describeCauses(),
	})
}

// intend adds a write of the kind that is not sent.
func (a *azureReconciliation[O, I]) intend(write string) {
	a.observing.intended = append(a.observing.intended, write)
}

// intendAction reports an action in place of sending it.
func (a *azureReconciliation[O, I]) intendAction(action engine.Action) arm.Result {
	a.intend(status.DescribeAction(action.Method, action.ID, action.SubPath, action.Part))
	return arm.Result{ID: action.ID, State: arm.Waiting, IntendedMethod: action.Method, Message: "is not sent while the object is observed"}
}

// intendOutcome adds the writes that the engine has not sent.
func (a *azureReconciliation[O, I]) intendOutcome(outcome arm.Outcome) {
	for _, result := range outcome.Results {
		if result.IntendedMethod != "" {
			a.intend(status.DescribeIntention(result))
		}
	}
}

// reportObserving sets the condition Drifted of an observed object, removes it from any other, and counts the object. err is the end of
// the reconciliation.
func (a *azureReconciliation[O, I]) reportObserving(ended resultKind, err error) {
	o := &a.observing
	switch {
	case !o.isOn():
		conditions.Delete(a.object, infrav1.DriftedCondition)
		a.Work.ForgetObserved(a.declaration.Name, a.key.String())
	case o.known:
		slices.Sort(o.intended)
		conditions.Set(a.object, status.DriftedCondition(o.describeCauses(), o.intended))
		a.Work.SetObserved(a.declaration.Name, a.key.String(), len(o.intended))
	case ended == resultQuiet, conditions.Has(a.object, infrav1.DriftedCondition) && !forbidsPlan(err):
		// The condition shows the last known writes.
	default:
		conditions.Set(a.object, metav1.Condition{Type: infrav1.DriftedCondition, Status: metav1.ConditionUnknown,
			Reason: infrav1.ObservingReason, Message: "The object is observed because of " + o.describeCauses() +
				". Its writes to Azure cannot be computed yet. See Ready"})
		a.Work.SetObserved(a.declaration.Name, a.key.String(), 0)
	}
}

// forbidsPlan reports whether a reconciliation ended because nothing is written before users or other objects act.
func forbidsPlan(err error) bool {
	reason := stopReasonOf(err)
	return reason != nil && (reason.result == resultRefused || reason.result == resultWaiting)
}
