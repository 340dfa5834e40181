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

// lastSeenPrefix begins what is said of a verdict that could not be looked at again.
const lastSeenPrefix = "as last seen; "

// uninformativeReasons are reasons that say nothing about resources: of what lies between here and Azure, and of what has not
// been asked for yet. There is no verdict to be kept under them.
var uninformativeReasons = []string{
	infrav1.WaitingReason, infrav1.WaitingForClusterInfrastructureReason, infrav1.WaitingForBootstrapDataReason, infrav1.WaitingForControlPlaneReason,
	infrav1.ThrottledReason, infrav1.InvalidConfigurationReason, infrav1.NotSupportedReason, infrav1.SubscriptionNotFoundReason,
	string(identity.IdentityNotFound), string(identity.NamespaceNotAllowedByIdentity), string(identity.SecretNotFound),
	string(identity.SecretKeyMissing), string(identity.CredentialsInvalid), string(identity.SubscriptionMissing),
}

// SetCondition sets one condition. One that is Unknown found out nothing: an outage of Azure, or an identity that does not work, must
// not look like broken machines, because remediation deletes those. So what was True stays so, and is said to be old. What was
// False stays so where Azure only did not answer; where a person has to correct something, the condition says that. Of an
// object that is being deleted no verdict counts any more, and the condition says what keeps it.
func SetCondition(obj Object, condition metav1.Condition) {
	if condition.Status == metav1.ConditionUnknown && !obj.GetDeletionTimestamp().IsZero() {
		condition.Status = metav1.ConditionFalse
	}
	conditions.Set(obj, mergeCondition(conditions.Get(obj, condition.Type), condition, staleCause(condition)))
}

// InternalErrorCondition returns the condition for an error that has nothing to do with Azure, as a write that the API server refuses. It is Unknown:
// SetInternalError decides what stays.
func InternalErrorCondition(conditionType string, err error) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionUnknown, Reason: infrav1.FailedReason,
		Message: err.Error() + ". The manager tries again, with a delay that grows",
	}
}

// SetInternalError sets conditions for such an error. A condition that was True stays so and has the error in its message: the error is no news
// about the resources.
func SetInternalError(obj Object, err error, conditionTypes ...string) {
	for _, conditionType := range conditionTypes {
		condition := InternalErrorCondition(conditionType, err)
		conditions.Set(obj, mergeCondition(conditions.Get(obj, conditionType), condition, "the last reconciliation failed: "+condition.Message))
	}
}

// Object is of a kind that has conditions.
type Object interface {
	metav1.Object
	conditions.Setter
}

// isAccessWithdrawn reports whether a reason says that the owner of the identity or of the manager does not let the object use it. That is a decision
// and no outage, so it does not stand behind a verdict that was found before.
func isAccessWithdrawn(reason string) bool {
	return reason == string(identity.NamespaceNotAllowedByIdentity) || reason == string(identity.NotAllowedByTenancy)
}

// isUnanswered reports whether Azure only did not answer.
func isUnanswered(found metav1.Condition) bool {
	return found.Reason == infrav1.WaitingReason || found.Reason == infrav1.ThrottledReason
}

// staleCause is why a verdict is old.
func staleCause(found metav1.Condition) string {
	if isUnanswered(found) {
		return "Azure does not answer: " + found.Message
	}
	return "Azure cannot be asked: " + found.Message
}

// mergeCondition is the condition to set after last, which may be nil. cause is why a verdict is old.
func mergeCondition(last *metav1.Condition, found metav1.Condition, cause string) metav1.Condition {
	if found.Status != metav1.ConditionUnknown {
		return found
	}
	silent := isUnanswered(found)
	switch {
	case isAccessWithdrawn(found.Reason) && last != nil && last.Status != metav1.ConditionFalse:
		// Unknown: Azure may not be asked any more, and a MachineHealthCheck deletes no machine for that.
	case last != nil && last.Status == metav1.ConditionTrue:
		found.Status, found.Reason, found.Message = metav1.ConditionTrue, infrav1.LastSeenReason, staleMessage(last.Message, cause)
	case silent && last != nil && last.Status == metav1.ConditionFalse && !slices.Contains(uninformativeReasons, last.Reason):
		found.Status, found.Reason, found.Message = metav1.ConditionFalse, last.Reason, staleMessage(last.Message, cause)
	case !silent:
		found.Status = metav1.ConditionFalse
	}
	return found
}

// staleMessage is the message of a verdict that was not looked at again because of cause. The message may be old already.
func staleMessage(message, cause string) string {
	message, _, _ = strings.Cut(message, lastSeenPrefix)
	return message + messageSeparator(message) + lastSeenPrefix + cause
}

// messageSeparator is what a message needs at its end before another one.
func messageSeparator(message string) string {
	if message == "" || strings.HasSuffix(message, "; ") {
		return ""
	}
	return "; "
}

// SetReadError sets conditions for an error that kept a pass from looking at Azure, and returns when to try again.
func SetReadError(obj Object, err error, conditionTypes ...string) time.Duration {
	var after time.Duration
	for _, conditionType := range conditionTypes {
		var condition metav1.Condition
		condition, after = ProblemCondition(conditionType, err)
		var azure *arm.Error
		if identity.CodeOf(err) != "" || errors.As(err, &azure) && azure.Method == "GET" || isUnauthenticated(azure) {
			condition.Status = metav1.ConditionUnknown
		}
		SetCondition(obj, condition)
	}
	return after
}

// isUnauthenticated tells whether there was no token to ask with.
func isUnauthenticated(azure *arm.Error) bool {
	return azure != nil && azure.Status == 401
}

// isUnknown tells whether a pass found out nothing about the resource of a result: it was not read, or is there and waits for
// a write that Azure did not answer, or for a resource that was not read.
func isUnknown(outcome arm.Outcome, result arm.Result) bool {
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

// rootCauseOf is a result that has the error of the one that it is blocked by.
func rootCauseOf(outcome arm.Outcome, result arm.Result) arm.Result {
	if root, ok := outcome.Result(result.BlockedBy); ok && result.Err == nil && root.Err != nil {
		return root
	}
	return result
}
