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
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// lastSeenPrefix precedes the cause in the message of a condition that could not be checked again.
const lastSeenPrefix = "as last seen; "

// cannotAskPrefix precedes the cause if a person has to act before Azure can be asked.
const cannotAskPrefix = "Azure cannot be asked: "

// uninformativeReasons are reasons of conditions that are not about resources, for example a missing identity or owner. Such a condition has
// no status worth keeping.
var uninformativeReasons = slices.Concat([]string{
	infrav1.WaitingReason, infrav1.WaitingForClusterInfrastructureReason, infrav1.WaitingForBootstrapDataReason,
	infrav1.WaitingForControlPlaneReason,
	infrav1.ThrottledReason, infrav1.InvalidConfigurationReason, infrav1.NotSupportedReason, infrav1.SubscriptionNotFoundReason,
	infrav1.OwnerRefNotSetReason, infrav1.ClusterNotFoundReason, infrav1.AzureClusterNotFoundReason, infrav1.ControlPlaneNotFoundReason,
	infrav1.ObservingReason, infrav1.InternalErrorReason, string(identity.NamespaceTerminating),
}, identityReasons)

// SetCondition sets one condition. An Unknown one has no information: an outage of Azure or a broken identity must not look like broken
// machines, because remediation deletes those. So a True condition stays True and is marked LastSeen. A False one stays if Azure merely
// did not answer; if a person has to correct something, the condition shows that. On an object that is being deleted, Unknown becomes
// False and the condition shows what blocks the deletion. A summary of other conditions does not become True while a resource cannot be
// read: controllers report the endpoint and complete the provisioning only when they have read all resources.
func SetCondition(obj Object, condition metav1.Condition) {
	if condition.Status == metav1.ConditionTrue && condition.Reason == infrav1.LastSeenReason && !conditions.IsTrue(obj, condition.Type) {
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.WaitingReason
	}
	if condition.Status == metav1.ConditionUnknown && !obj.GetDeletionTimestamp().IsZero() {
		condition.Status = metav1.ConditionFalse
	}
	conditions.Set(obj, mergeCondition(conditions.Get(obj, condition.Type), condition, staleCause(condition)))
}

// InternalErrorCondition returns the condition for an error outside of Azure, for example a write that the API server refuses. It is
// Unknown: SetInternalError decides which status stays.
func InternalErrorCondition(conditionType string, err error) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionUnknown, Reason: infrav1.InternalErrorReason,
		Message: text.JoinSentences(err.Error(), "The manager tries again, with a delay that grows"),
	}
}

// SetInternalError sets conditions for such an error. A True condition stays True with the error in its message, because the error is
// no information about the resources.
func SetInternalError(obj Object, err error, conditionTypes ...string) {
	for _, conditionType := range conditionTypes {
		condition := InternalErrorCondition(conditionType, err)
		conditions.Set(obj, mergeCondition(conditions.Get(obj, conditionType), condition, staleCause(condition)))
	}
}

// Object has conditions.
type Object interface {
	metav1.Object
	conditions.Setter
}

// isAccessWithdrawn reports whether the reason is that the owner of the identity or of the manager forbids its use. That is a decision
// and not an outage, so it replaces an earlier status.
func isAccessWithdrawn(reason string) bool {
	return reason == string(identity.NamespaceNotAllowedByIdentity) || reason == string(identity.NotAllowedByTenancy)
}

// isUnanswered reports whether Azure merely did not answer.
func isUnanswered(found metav1.Condition) bool {
	return found.Reason == infrav1.WaitingReason || found.Reason == infrav1.ThrottledReason
}

// staleCause explains why a status is not current.
func staleCause(found metav1.Condition) string {
	switch {
	case isUnanswered(found):
		return "Azure does not answer: " + found.Message
	case found.Reason == infrav1.InternalErrorReason:
		return "the last reconciliation failed: " + found.Message
	}
	return cannotAskPrefix + found.Message
}

// mergeCondition returns the condition to set, given the last one, which may be nil. cause explains why a kept status is not current.
func mergeCondition(last *metav1.Condition, found metav1.Condition, cause string) metav1.Condition {
	if found.Status != metav1.ConditionUnknown {
		return found
	}
	silent := isUnanswered(found)
	switch {
	case isAccessWithdrawn(found.Reason) && last != nil && last.Status != metav1.ConditionFalse:
		// Unknown: Azure may no longer be asked, and a MachineHealthCheck must not delete a machine because of that.
	case last != nil && last.Status == metav1.ConditionTrue:
		found.Status, found.Reason, found.Message = metav1.ConditionTrue, infrav1.LastSeenReason, staleMessage(last.Message, cause)
	case silent && last != nil && last.Status == metav1.ConditionFalse && !slices.Contains(uninformativeReasons, last.Reason):
		found.Status, found.Reason, found.Message = metav1.ConditionFalse, last.Reason, staleMessage(last.Message, cause)
	case !silent:
		found.Status = metav1.ConditionFalse
	}
	return found
}

// staleMessage marks a message as last seen because of cause. The message may be marked already. The cause replaces a message about an earlier
// failure of the same request.
func staleMessage(message, cause string) string {
	message, _, _ = strings.Cut(message, lastSeenPrefix)
	if shareRequest(message, cause) {
		message = ""
	}
	return message + messageSeparator(message) + lastSeenPrefix + cause
}

// messageSeparator returns the text between a message and an addition.
func messageSeparator(message string) string {
	if message == "" || strings.HasSuffix(message, "; ") {
		return ""
	}
	return "; "
}

// SetReadError sets conditions for an error that prevented reading Azure, and returns the delay until the next try. An error that is not
// about Azure or the spec, for example of the API server, is no information about the resources.
func SetReadError(obj Object, err error, conditionTypes ...string) time.Duration {
	var after time.Duration
	for _, conditionType := range conditionTypes {
		var condition metav1.Condition
		condition, after = ProblemCondition(conditionType, err)
		var azure *arm.Error
		if identity.CodeOf(err) != "" || errors.As(err, &azure) && azure.Method == "GET" || isUnauthenticated(azure) ||
			condition.Reason == infrav1.InternalErrorReason {
			condition.Status = metav1.ConditionUnknown
		}
		SetCondition(obj, condition)
	}
	return after
}

// isUnauthenticated reports whether no token was available.
func isUnauthenticated(azure *arm.Error) bool {
	return azure != nil && azure.Status == 401
}

// isUnknown reports whether the reconciliation learned nothing about a resource: it was not read, or it exists and waits for a write
// that Azure did not answer or for a resource that was not read.
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

// rootCauseOf returns the failed result that blocks result, or result itself.
func rootCauseOf(outcome arm.Outcome, result arm.Result) arm.Result {
	if root, ok := outcome.Result(result.BlockedBy); ok && result.Err == nil && root.Err != nil {
		return root
	}
	return result
}
