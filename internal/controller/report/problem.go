package report

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// How long to wait after a problem that came before anything was planned. Objects that the cause lies in are watched, so
// a correction in Kubernetes is seen at once; these are for corrections in Azure.
const (
	retryAfter   = 15 * time.Second
	stalledAfter = time.Minute
)

// Problem is the condition for an error that keeps a pass from planning, and when to try again.
func Problem(conditionType string, err error) (metav1.Condition, time.Duration) {
	condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse}
	after, again := stalledAfter, ""
	var azure *arm.Error
	var invalid *field.Error
	switch {
	case errors.As(err, &invalid):
		condition.Reason = infrav1.InvalidConfigurationReason
	case identity.CodeOf(err) != "":
		condition.Reason = string(identity.CodeOf(err))
	case errors.As(err, &azure):
		condition.Reason = reason(arm.Result{State: arm.Failed, Err: err})
		if class := arm.Classify(err); class == arm.ClassWaiting || class == arm.ClassRetry {
			condition.Reason = infrav1.WaitingReason
			if after = retryAfter; azure.RetryAfter > after {
				after, again = azure.RetryAfter, arm.Outlook(err)
			}
		}
	default:
		condition.Reason, after = infrav1.FailedReason, retryAfter
	}
	if again == "" {
		again = "tried again in " + after.String()
	}
	condition.Message = err.Error() + "; " + again
	return condition, after
}
