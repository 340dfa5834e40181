package reconcile

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// stopReason is an error that ends a reconciliation early, in good order.
type stopReason struct {
	result      resultKind
	fieldErrors field.ErrorList
	cause       error
	// conditionType is the type of the condition that shows cause; "" means PrimaryCondition.
	conditionType string
	condition     metav1.Condition
	// eventReason is the reason of Ready and of the event of an object whose owner is missing.
	eventReason string
	// abandonCause explains why the object goes without deleting azureResources, which describes them.
	abandonCause, azureResources string
	// keptResources explains which resources stay in Azure when the object goes; "" if none do.
	keptResources string
	retryAfter    time.Duration
	// incomplete is set if the spec was not compared with Azure, so that its generation is not recorded as observed.
	incomplete bool
}

// resultKind is the result of a reconciliation, as its metric shows it. docs/book/metrics.md explains the values.
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

// stopReasonOf returns the stopReason in err, or nil.
func stopReasonOf(err error) *stopReason {
	var v *stopReason
	if errors.As(err, &v) {
		return v
	}
	return nil
}

// WaitForOwner stops for an object that does not belong to a Cluster yet. Ready and an event name the missing owner, whose creation wakes
// the object.
func WaitForOwner(reason, message string) error {
	return &stopReason{result: resultNothing, eventReason: reason, condition: metav1.Condition{Message: message}}
}

// NothingToDo stops without any effect.
func NothingToDo() error { return &stopReason{result: resultNothing} }

// RefuseSpec stops because fields are invalid or not supported. Nothing is created until they are corrected.
func RefuseSpec(errs field.ErrorList) error {
	return &stopReason{result: resultRefused, fieldErrors: errs}
}

// ReadFailed stops because a required read failed, for example because Azure did not answer or the identity does not work.
func ReadFailed(cause error) error { return &stopReason{result: resultUnread, cause: cause} }

// ReadFailedFor is ReadFailed shown in the condition of this type.
func ReadFailedFor(condition string, cause error) error {
	return &stopReason{result: resultUnread, cause: cause, conditionType: condition}
}

// UntilResync is the time until the next regular sync.
const UntilResync time.Duration = -1

// StopFor stops with the conditions as the kind has set them. The next reconciliation is after this time.
func StopFor(after time.Duration) error { return &stopReason{result: resultStopped, retryAfter: after} }

// WaitForFacts stops until a fact that the plan needs is known, whose arrival wakes the object. The conditions stay as they are, and the
// generation of the spec does not count as observed.
func WaitForFacts() error { return &stopReason{result: resultStopped, incomplete: true} }

// RecheckIn ends a reconciliation in which all resources are in place but the kind has reported a problem of its own. It is checked
// again after this time. cause is emitted as an event and may be nil.
func RecheckIn(after time.Duration, cause error) error {
	return &stopReason{result: resultAgain, retryAfter: after, cause: cause}
}

// WaitFor stops until another object acts, as condition explains. Its change wakes the object.
func WaitFor(condition metav1.Condition) error {
	return &stopReason{result: resultWaiting, condition: condition}
}

// FinishDeletion ends the deletion of an object that has nothing left to delete in Azure.
func FinishDeletion() error { return &stopReason{result: resultDeleted} }

// AbandonResources is FinishDeletion for an object whose resources cannot be determined. azure describes them, why gives the cause.
func AbandonResources(why, azure string) error {
	return &stopReason{result: resultAbandoned, abandonCause: why, azureResources: azure}
}

// KeepResources is FinishDeletion for an object whose resources stay in Azure, because others use them. An event has the explanation.
func KeepResources(explanation string) error {
	return &stopReason{result: resultDeleted, keptResources: explanation}
}
