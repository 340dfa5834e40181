package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// State is the state of an object in one word, for metrics. Each state except Paused has one result of kstatus.
type State string

const (
	// StateReady is the state of an object that is in order. kstatus returns Current.
	StateReady State = "Ready"
	// StateReconciling is the state of an object with work under way or waited for. kstatus returns InProgress.
	StateReconciling State = "Reconciling"
	// StateStopped is the state of an object whose VMs are stopped because an annotation requests it. kstatus returns InProgress.
	StateStopped State = "Stopped"
	// StateObserved is the state of an observed object that is not in order: nothing is written to Azure for it. kstatus returns InProgress.
	StateObserved State = "Observed"
	// StateStalled is the state of an object for which a person has to act. kstatus returns Failed.
	StateStalled State = "Stalled"
	// StateDeleting is the state of an object that is being deleted. kstatus returns Terminating.
	StateDeleting State = "Deleting"
	// StatePaused is the state of a paused object that is not being deleted. kstatus returns Current or InProgress.
	StatePaused State = "Paused"
)

// otherReason is the label of reasons that this provider does not know.
const otherReason = "Other"

// Summary is the state of an object, for metrics.
type Summary struct {
	State State
	// Reason is that of Ready, None for an object without Ready, or Other for a reason of another program. The number of values is bounded.
	Reason string
	// Since is the time at which the object entered the state, as far as its conditions show it. It is zero for an object that was ready
	// when its spec was changed, and has not been reconciled since.
	Since time.Time
	// Drifted is set if a resource differs from the spec and the provider does not repair it.
	Drifted bool
}

// Summarize returns the state of an object, by the same rules as kstatus.
func Summarize(object Object, observedGeneration int64) Summary {
	out := Summary{State: StateReady, Reason: "None", Since: object.GetCreationTimestamp().Time}
	ready := conditions.Get(object, infrav1.ReadyCondition)
	if ready != nil {
		if out.Reason = ready.Reason; !IsKnownReason(out.Reason) {
			out.Reason = otherReason
		}
		out.Since = ready.LastTransitionTime.Time
	}
	for _, condition := range object.GetConditions() {
		out.Drifted = out.Drifted || condition.Reason == infrav1.DriftedReason && condition.Type != infrav1.DriftedCondition &&
			condition.Status == metav1.ConditionTrue
	}
	enter := func(state State, conditionType string) bool {
		condition := conditions.Get(object, conditionType)
		if condition == nil || condition.Status != metav1.ConditionTrue {
			return false
		}
		out.State, out.Since = state, condition.LastTransitionTime.Time
		return true
	}
	switch deleted := object.GetDeletionTimestamp(); {
	case deleted != nil:
		out.State, out.Since = StateDeleting, deleted.Time
	case enter(StatePaused, clusterv1.PausedCondition):
	case observedGeneration != object.GetGeneration():
		if ready != nil && ready.Status == metav1.ConditionTrue {
			// Ready became True for an earlier spec. A reconciliation that fails since the change sets one of the others.
			out.Since = time.Time{}
			_ = enter(StateStalled, infrav1.StalledCondition) || enter(StateReconciling, infrav1.ReconcilingCondition)
		}
		out.State = StateReconciling
	case enter(StateStalled, infrav1.StalledCondition):
	case enter(StateReconciling, infrav1.ReconcilingCondition):
	case ready == nil || ready.Status != metav1.ConditionTrue:
		out.State = StateReconciling
	}
	if out.State == StateReconciling {
		out.State = requestedState(object, ready)
	}
	return out
}

// requestedState returns the state of an object that is not in order, because a user requested that or because work is under way.
func requestedState(object Object, ready *metav1.Condition) State {
	switch {
	case ready != nil && ready.Status != metav1.ConditionTrue && ready.Reason == infrav1.StoppedAsRequestedReason:
		return StateStopped
	case conditions.Has(object, infrav1.DriftedCondition):
		// Only observed objects have it.
		return StateObserved
	}
	return StateReconciling
}
