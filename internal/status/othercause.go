package status

import (
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// StalledCause returns the reason and the message of an object for which a person has to act, and "" for any other object. Objects that
// wait for it show them, and watch them. Objects do not wait for the owner of a service to connect a private endpoint.
func StalledCause(obj conditions.Getter) (reason, message string) {
	ready := conditions.Get(obj, infrav1.ReadyCondition)
	if ready == nil || ready.Status == metav1.ConditionTrue || !NeedsAction(ready.Reason) || AwaitsServiceOwner(ready.Reason) {
		return "", ""
	}
	return ready.Reason, ready.Message
}

// WaitFor returns the condition of an object that waits for another one. If a person has to act before that, it has the cause of the other
// object, so that users find it where they look first.
func WaitFor(kind string, other Object, waits string) metav1.Condition {
	out := metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.WaitingReason, Message: waits + " " + kind + " " + other.GetName()}
	if reason, message := StalledCause(other); reason != "" {
		out.Reason, out.Message = reason, kind+" "+other.GetName()+": "+message
	}
	return out
}

// otherCause matches the message of such a condition, and that of its summary.
var otherCause = regexp.MustCompile(`^(\w+: )?Azure\w+ [a-z0-9.-]+: `)

// IsOtherCause reports whether a message has the cause of another object, which has a Warning about it.
func IsOtherCause(message string) bool { return otherCause.MatchString(message) }
