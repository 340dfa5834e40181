package status

import (
	"errors"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// lastSeen begins what is said of a verdict that could not be looked at again.
const lastSeen = "as last seen; "

// unlearnedReasons are reasons that say nothing about resources: of what lies between here and Azure, and of what has not
// been asked for yet. There is no verdict to be kept under them.
var unlearnedReasons = []string{
	infrav1.WaitingReason, infrav1.WaitingForClusterInfrastructureReason, infrav1.WaitingForBootstrapDataReason, infrav1.WaitingForControlPlaneReason,
	infrav1.ThrottledReason, infrav1.InvalidConfigurationReason, infrav1.NotSupportedReason, infrav1.SubscriptionNotFoundReason,
	string(identity.IdentityNotFound), string(identity.NamespaceNotAllowedByIdentity), string(identity.SecretNotFound),
	string(identity.SecretKeyMissing), string(identity.CredentialsInvalid), string(identity.SubscriptionMissing),
}

// Put sets one condition. One that is Unknown found out nothing: an outage of Azure, or an identity that does not work, must
// not look like broken machines, because remediation deletes those. So what was True stays so, and is said to be old. What was
// False stays so where Azure only did not answer; where a person has to correct something, the condition says that. Of an
// object that is being deleted no verdict counts any more, and the condition says what keeps it.
func Put(obj Object, condition metav1.Condition) {
	if condition.Status == metav1.ConditionUnknown && !obj.GetDeletionTimestamp().IsZero() {
		condition.Status = metav1.ConditionFalse
	}
	conditions.Set(obj, judged(conditions.Get(obj, condition.Type), condition, unasked(condition)))
}

// Broken returns the condition for an error that has nothing to do with Azure, as a write that the API server refuses. It is Unknown:
// PutBroken decides what stays.
func Broken(conditionType string, err error) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionUnknown, Reason: infrav1.FailedReason,
		Message: err.Error() + ". The manager tries again, with a delay that grows",
	}
}

// PutBroken sets conditions for such an error. A condition that was True stays so and has the error in its message: the error is no news
// about the resources.
func PutBroken(obj Object, err error, conditionTypes ...string) {
	for _, conditionType := range conditionTypes {
		condition := Broken(conditionType, err)
		conditions.Set(obj, judged(conditions.Get(obj, conditionType), condition, "the last reconciliation failed: "+condition.Message))
	}
}

// Object is of a kind that has conditions.
type Object interface {
	metav1.Object
	conditions.Setter
}

// withdrawn reports whether a reason says that the owner of the identity or of the manager does not let the object use it. That is a decision
// and no outage, so it does not stand behind a verdict that was found before.
func withdrawn(reason string) bool {
	return reason == string(identity.NamespaceNotAllowedByIdentity) || reason == string(identity.NotAllowedByTenancy)
}

// silent reports whether Azure only did not answer.
func silent(found metav1.Condition) bool {
	return found.Reason == infrav1.WaitingReason || found.Reason == infrav1.ThrottledReason
}

// unasked is why a verdict is old.
func unasked(found metav1.Condition) string {
	if silent(found) {
		return "Azure does not answer: " + found.Message
	}
	return "Azure cannot be asked: " + found.Message
}

// judged is the condition to set after last, which may be nil. cause is why a verdict is old.
func judged(last *metav1.Condition, found metav1.Condition, cause string) metav1.Condition {
	if found.Status != metav1.ConditionUnknown {
		return found
	}
	silent := silent(found)
	switch {
	case withdrawn(found.Reason) && last != nil && last.Status != metav1.ConditionFalse:
		// Unknown: Azure may not be asked any more, and a MachineHealthCheck deletes no machine for that.
	case last != nil && last.Status == metav1.ConditionTrue:
		found.Status, found.Reason, found.Message = metav1.ConditionTrue, infrav1.LastSeenReason, old(last.Message, cause)
	case silent && last != nil && last.Status == metav1.ConditionFalse && !slices.Contains(unlearnedReasons, last.Reason):
		found.Status, found.Reason, found.Message = metav1.ConditionFalse, last.Reason, old(last.Message, cause)
	case !silent:
		found.Status = metav1.ConditionFalse
	}
	return found
}

// old is the message of a verdict that was not looked at again because of cause. The message may be old already.
func old(message, cause string) string {
	message, _, _ = strings.Cut(message, lastSeen)
	return message + separated(message) + lastSeen + cause
}

// separated is what a message needs at its end before another one.
func separated(message string) string {
	if message == "" || strings.HasSuffix(message, "; ") {
		return ""
	}
	return "; "
}

// Unread sets conditions for an error that kept a pass from looking at Azure, and returns when to try again.
func Unread(obj Object, err error, conditionTypes ...string) time.Duration {
	var after time.Duration
	for _, conditionType := range conditionTypes {
		var condition metav1.Condition
		condition, after = Problem(conditionType, err)
		var azure *arm.Error
		if identity.CodeOf(err) != "" || errors.As(err, &azure) && azure.Method == "GET" || unauthenticated(azure) {
			condition.Status = metav1.ConditionUnknown
		}
		Put(obj, condition)
	}
	return after
}

// unauthenticated tells whether there was no token to ask with.
func unauthenticated(azure *arm.Error) bool {
	return azure != nil && azure.Status == 401
}

// unlearned tells whether a pass found out nothing about the resource of a result: it was not read, or is there and waits for
// a write that Azure did not answer, or for a resource that was not read.
func unlearned(outcome arm.Outcome, result arm.Result) bool {
	switch {
	case result.ReadFailed:
		return true
	case len(result.Observed) == 0:
		return false
	case result.State == arm.Blocked:
		blocker, _ := outcome.Result(result.BlockedBy)
		return blocker.ReadFailed
	}
	return arm.IsUnanswered(result.Err)
}

// ofRoot is a result that has the error of the one that it is blocked by.
func ofRoot(outcome arm.Outcome, result arm.Result) arm.Result {
	if root, ok := outcome.Result(result.BlockedBy); ok && result.Err == nil && root.Err != nil {
		return root
	}
	return result
}
