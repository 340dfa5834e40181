package lifecycle

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// The message of Ready of a paused object has these before the cause and before the earlier message.
const (
	pausedPrefix = "paused ("
	pausedSuffix = "); before that: "
)

// UpdatePausedCondition keeps the Paused condition of an object without a runner of its own, and shows a pause in Ready. It changes the
// object in memory only and reports whether it is paused.
func UpdatePausedCondition(obj Object, kind string, cluster *clusterv1.Cluster) bool {
	paused := pausedCondition(obj, kind, cluster)
	conditions.Set(obj, paused)
	isPaused := paused.Status == metav1.ConditionTrue
	switch {
	case isPaused && obj.GetDeletionTimestamp().IsZero():
		markReadyPaused(obj)
	case isPaused:
		deletion.ReplaceConditions(obj, deletion.PausedCondition(obj, kind, cluster))
	default:
		restoreReady(obj)
	}
	return isPaused
}

// pausedCondition returns the Paused condition in Cluster API's words. Cluster API's own package for it prints differences by
// reflection, which makes the linker keep every method of every type: a quarter of the binary.
func pausedCondition(obj client.Object, kind string, cluster *clusterv1.Cluster) metav1.Condition {
	var why []string
	if cluster != nil && cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		why = append(why, "Cluster spec.paused is set to true")
	}
	if annotations.HasPaused(obj) {
		why = append(why, kind+" has the "+clusterv1.PausedAnnotation+" annotation")
	}
	if len(why) == 0 {
		return metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotPausedReason,
			ObservedGeneration: obj.GetGeneration()}
	}
	return metav1.Condition{Type: clusterv1.PausedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.PausedReason,
		Message: strings.Join(why, ", "), ObservedGeneration: obj.GetGeneration()}
}

// markReadyPaused shows in Ready that the object is paused: clusterctl describe shows no other condition of it, and Ready may be
// outdated. The reason of an object in order becomes Paused; in other cases only the message shows the pause. The status stays, and so do
// two reasons:
//
//   - that of an object that is not in order: it may be the cause of the pause, and a MachineHealthCheck acts on it
//   - LastSeen, because the status may be about a former spec
func markReadyPaused(obj Object) {
	cause := conditions.GetMessage(obj, clusterv1.PausedCondition)
	ready := conditions.Get(obj, infrav1.ReadyCondition)
	if ready == nil {
		conditions.Set(obj, metav1.Condition{Type: infrav1.ReadyCondition, Status: metav1.ConditionUnknown, Reason: clusterv1.PausedReason,
			Message: "paused (" + cause + ") before the first reconciliation"})
		return
	}
	updated := *ready
	switch {
	case ready.Status == metav1.ConditionTrue && ready.Reason != infrav1.LastSeenReason:
		updated.Reason, updated.Message = clusterv1.PausedReason, cause
	case ready.Reason != clusterv1.PausedReason:
		updated.Message = pausedPrefix + cause + pausedSuffix + messageBeforePause(ready.Message)
	}
	replaceCondition(obj, updated)
}

// restoreReady reverts markReadyPaused.
func restoreReady(obj Object) {
	ready := conditions.Get(obj, infrav1.ReadyCondition)
	if ready == nil {
		return
	}
	updated := *ready
	switch {
	case ready.Reason != clusterv1.PausedReason:
		updated.Message = messageBeforePause(ready.Message)
	case ready.Status == metav1.ConditionTrue:
		updated.Reason, updated.Message = infrav1.ReadyReason, ""
	default:
		conditions.Delete(obj, infrav1.ReadyCondition)
		return
	}
	replaceCondition(obj, updated)
}

// messageBeforePause returns the message that a condition had before the object was paused.
func messageBeforePause(message string) string {
	if rest, ok := strings.CutPrefix(message, pausedPrefix); ok {
		if _, said, ok := strings.Cut(rest, pausedSuffix); ok {
			return said
		}
	}
	return message
}

// replaceCondition replaces the condition of the same type, and keeps its observed generation.
func replaceCondition(obj Object, condition metav1.Condition) {
	list := obj.GetConditions()
	for i := range list {
		if list[i].Type == condition.Type {
			list[i] = condition
		}
	}
	obj.SetConditions(list)
}
