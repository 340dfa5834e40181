package status

import (
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// stalledRetryInterval is the delay after a problem that has to be solved in Kubernetes. The objects that can cause it are watched, so
// a correction takes effect at once.
const stalledRetryInterval = time.Minute

// ProblemCondition returns the condition for an error that prevents planning, and the delay until the next try. The condition is
// Unknown if Azure did not answer: SetCondition then keeps an earlier status.
func ProblemCondition(conditionType string, err error) (metav1.Condition, time.Duration) {
	condition := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse}
	if arm.IsUnanswered(err) {
		condition.Status = metav1.ConditionUnknown
	}
	after, again := stalledRetryInterval, ""
	var azure *arm.Error
	var invalid *field.Error
	switch {
	case errors.As(err, &invalid):
		condition.Reason = infrav1.InvalidConfigurationReason
	case identity.CodeOf(err) != "":
		condition.Reason = string(identity.CodeOf(err))
	case errors.As(err, &azure):
		state := arm.Failed
		after = arm.ReadRetryDelay(err)
		if arm.IsTransient(err) {
			state = arm.Waiting
			if after == azure.RetryAfter {
				again = arm.DescribeRetry(err)
			}
		}
		condition.Reason = ResultReason(arm.Result{State: state, Err: err})
	default:
		condition.Reason, after = infrav1.InternalErrorReason, arm.ReadRetryDelay(err)
	}
	if again == "" {
		again = "next try in " + after.String()
	}
	condition.Message = DescribeProblem(err) + "; " + again
	return condition, after
}

// DescribeProblem returns the message of an error as conditions show it. Of a failed sign-in it leaves out the request that needed the token: requests run at the
// same time, so another one may be the first to fail at each try, which would change the message each time.
func DescribeProblem(err error) string {
	var azure *arm.Error
	if errors.As(err, &azure) && isUnauthenticated(azure) {
		return strings.TrimPrefix(azure.Error(), azure.Method+" "+azure.ID.ShortName()+": ")
	}
	return err.Error()
}
