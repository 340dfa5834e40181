package status

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// SetProgress sets the conditions Reconciling and Stalled by the condition Ready. kstatus, and with it Flux, reads them: an object is in
// progress if Reconciling is True, and failed if Stalled is True. At most one of them exists, and neither on an object that is in order
// or paused, except that a pause in an outage keeps the Reconciling of a spec that is not applied yet: the observed generation no longer shows
// that. unseen is set if the last status is about an older generation of the spec.
// https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
func SetProgress(obj Object, unseen bool) {
	want := infrav1.ReconcilingCondition
	ready := conditions.Get(obj, infrav1.ReadyCondition)
	isUnapplied := ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason == infrav1.LastSeenReason &&
		(unseen || conditions.IsTrue(obj, infrav1.ReconcilingCondition))
	switch {
	case conditions.IsTrue(obj, clusterv1.PausedCondition):
		if !isUnapplied {
			want = ""
		}
	case ready == nil:
		ready = &metav1.Condition{Reason: infrav1.WaitingReason, Message: "the first reconciliation has not ended"}
	case isStalled(*ready):
		want = infrav1.StalledCondition
	case ready.Status != metav1.ConditionTrue:
	case isUnapplied:
		// Resources that were in place when they were last read do not have the new spec yet.
	default:
		want = ""
	}
	for _, conditionType := range infrav1.ProgressConditions {
		if conditionType != want {
			conditions.Delete(obj, conditionType)
		}
	}
	if current := conditions.Get(obj, want); current != nil && lastsUntilEnded(current.Reason) != lastsUntilEnded(ready.Reason) {
		// The time of the work begins with the work.
		conditions.Delete(obj, want)
	}
	if want != "" {
		conditions.Set(obj, metav1.Condition{Type: want, Status: metav1.ConditionTrue, Reason: ready.Reason,
			Message: text.Truncate(ready.Message, text.MaxNote)})
	}
}

// isStalled reports whether Ready shows a cause that only a person can remove. A resource that is in place as last seen counts if Azure
// cannot be asked, for example because the credential has expired.
func isStalled(ready metav1.Condition) bool {
	if ready.Reason == infrav1.LastSeenReason || ready.Reason == infrav1.WaitingReason {
		return strings.Contains(ready.Message, lastSeenPrefix+cannotAskPrefix)
	}
	return ready.Status != metav1.ConditionTrue && NeedsAction(ready.Reason)
}
