package reconcile

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// stopReason is an error that ends a pass in good order.
type stopReason struct {
	result      resultKind
	fieldErrors field.ErrorList
	cause       error
	// conditionType is the type that a cause is said in, "" for the kind's foremost.
	conditionType string
	condition     metav1.Condition
	// eventReason is the reason of the event that says why there is nothing to do.
	eventReason string
	// abandonCause and azure say why an object goes without its resources, and which.
	abandonCause, azureResources string
	retryAfter                   time.Duration
}

// resultKind is what a pass came to, as its metric has it. The book's page on metrics says what each means.
type resultKind string

const (
	resultQuiet       resultKind = "quiet"
	resultSettled     resultKind = "settled"
	resultProgressing resultKind = "progressing"
	resultWaiting     resultKind = "waiting"
	resultAgain       resultKind = "again"
	resultRefused     resultKind = "refused"
	resultUnread      resultKind = "unread"
	resultStopped     resultKind = "stopped"
	resultDeleted     resultKind = "deleted"
	resultAbandoned   resultKind = "abandoned"
	resultNothing     resultKind = "nothing"
	resultError       resultKind = "error"
)

func (v *stopReason) Error() string {
	switch {
	case v.cause != nil:
		return v.cause.Error()
	case len(v.fieldErrors) > 0:
		return v.fieldErrors.ToAggregate().Error()
	}
	return string(v.result) + ": " + v.condition.Message
}

func (v *stopReason) Unwrap() error { return v.cause }

// stopReasonOf is the verdict that err is, nil for another error.
func stopReasonOf(err error) *stopReason {
	var v *stopReason
	if errors.As(err, &v) {
		return v
	}
	return nil
}

// IsStopReason tells whether an error ends a pass in good order.
func IsStopReason(err error) bool { return stopReasonOf(err) != nil }

// WaitForOwner ends a pass over an object that does not belong to anything yet; what makes it so wakes the object.
func WaitForOwner(reason, message string) error {
	return &stopReason{result: resultNothing, eventReason: reason, condition: metav1.Condition{Message: message}}
}

// NothingToDo ends a pass that has nothing to do.
func NothingToDo() error { return &stopReason{result: resultNothing} }

// RefuseSpec ends a pass over an object whose fields are refused. Nothing is made until they are corrected.
func RefuseSpec(errs field.ErrorList) error {
	return &stopReason{result: resultRefused, fieldErrors: errs}
}

// ReadFailed ends a pass that could not learn what it has to know, as because Azure did not answer or the identity does not work.
func ReadFailed(cause error) error { return &stopReason{result: resultUnread, cause: cause} }

// ReadFailedFor is Unread that is said in this condition.
func ReadFailedFor(condition string, cause error) error {
	return &stopReason{result: resultUnread, cause: cause, conditionType: condition}
}

// UntilResync is the time after which an object that was found in order is looked at again.
const UntilResync time.Duration = -1

// StopFor ends a pass that has said what there is to say. The next one is after this time; 0 is when something wakes the object.
func StopFor(after time.Duration) error { return &stopReason{result: resultStopped, retryAfter: after} }

// RecheckIn ends a pass that found everything in place but something that it said, and looks at that again after this time. cause
// is what a person should be told of, and may be nil.
func RecheckIn(after time.Duration, cause error) error {
	return &stopReason{result: resultAgain, retryAfter: after, cause: cause}
}

// WaitFor ends a pass over an object that waits for what is told in condition, which wakes it.
func WaitFor(condition metav1.Condition) error {
	return &stopReason{result: resultWaiting, condition: condition}
}

// FinishDeletion ends the last pass over an object that has nothing in Azure which it would have to delete itself.
func FinishDeletion() error { return &stopReason{result: resultDeleted} }

// AbandonResources is FinishDeletion for an object of which nobody can say what is in Azure, which azure names, and why.
func AbandonResources(why, azure string) error {
	return &stopReason{result: resultAbandoned, abandonCause: why, azureResources: azure}
}
