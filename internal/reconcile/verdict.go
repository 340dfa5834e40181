package reconcile

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// verdict is an error that ends a pass in good order.
type verdict struct {
	what  outcome
	errs  field.ErrorList
	cause error
	// condition is the type that a cause is said in, "" for the kind's foremost.
	condition string
	says      metav1.Condition
	// event is the reason of the event that says why there is nothing to do.
	event string
	// why and azure say why an object goes without its resources, and which.
	why, azure string
	after      time.Duration
}

// outcome is what a pass came to, as its metric has it. The book's page on metrics says what each means.
type outcome string

const (
	quiet    outcome = "quiet"
	settles  outcome = "settled"
	underWay outcome = "progressing"
	waits    outcome = "waiting"
	again    outcome = "again"
	refused  outcome = "refused"
	unread   outcome = "unread"
	stops    outcome = "stopped"
	letsGo   outcome = "deleted"
	abandons outcome = "abandoned"
	nothing  outcome = "nothing"
	troubled outcome = "error"
)

func (v *verdict) Error() string {
	switch {
	case v.cause != nil:
		return v.cause.Error()
	case len(v.errs) > 0:
		return v.errs.ToAggregate().Error()
	}
	return string(v.what) + ": " + v.says.Message
}

func (v *verdict) Unwrap() error { return v.cause }

// verdictOf is the verdict that err is, nil for another error.
func verdictOf(err error) *verdict {
	var v *verdict
	if errors.As(err, &v) {
		return v
	}
	return nil
}

// IsVerdict tells whether an error ends a pass in good order.
func IsVerdict(err error) bool { return verdictOf(err) != nil }

// NotYet ends a pass over an object that does not belong to anything yet; what makes it so wakes the object.
func NotYet(reason, message string) error {
	return &verdict{what: nothing, event: reason, says: metav1.Condition{Message: message}}
}

// Nothing ends a pass that has nothing to do.
func Nothing() error { return &verdict{what: nothing} }

// Refused ends a pass over an object whose fields are refused. Nothing is made until they are corrected.
func Refused(errs field.ErrorList) error { return &verdict{what: refused, errs: errs} }

// Unread ends a pass that could not learn what it has to know, as because Azure did not answer or the identity does not work.
func Unread(cause error) error { return &verdict{what: unread, cause: cause} }

// UnreadFor is Unread that is said in this condition.
func UnreadFor(condition string, cause error) error {
	return &verdict{what: unread, cause: cause, condition: condition}
}

// UntilResync is the time after which an object that was found in order is looked at again.
const UntilResync time.Duration = -1

// Stop ends a pass that has said what there is to say. The next one is after this time; 0 is when something wakes the object.
func Stop(after time.Duration) error { return &verdict{what: stops, after: after} }

// Again ends a pass that found everything in place but something that it said, and looks at that again after this time. cause
// is what a person should be told of, and may be nil.
func Again(after time.Duration, cause error) error {
	return &verdict{what: again, after: after, cause: cause}
}

// WaitFor ends a pass over an object that waits for what is told in condition, which wakes it.
func WaitFor(condition metav1.Condition) error { return &verdict{what: waits, says: condition} }

// LetGo ends the last pass over an object that has nothing in Azure which it would have to delete itself.
func LetGo() error { return &verdict{what: letsGo} }

// Abandon is LetGo for an object of which nobody can say what is in Azure, which azure names, and why.
func Abandon(why, azure string) error { return &verdict{what: abandons, why: why, azure: azure} }
