// Package story tells in events what happens to an object, so that kubectl describe shows how it came to where it is: what was
// made, repaired, adopted and deleted for it in Azure, when it became ready, and every cause of a problem, with Azure's code
// and the request ID that conditions leave out.
//
// A cause is told once, as a Warning: not again in the next pass, not with another request ID, and not after a restart as
// long as a stored condition has it. It is told again when it comes back after it was gone.
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Recorder tells the stories of the objects of one controller. It is safe for concurrent use.
type Recorder struct {
	recorder events.EventRecorder

	mu sync.Mutex
	// reported are the causes that were told and are not over, by object and by what they are causes of.
	reported map[string]map[string]string
}

// NewRecorder makes a Teller.
func NewRecorder(recorder events.EventRecorder) *Recorder {
	return &Recorder{recorder: NewBoundedRecorder(recorder), reported: map[string]map[string]string{}}
}

// Object is of a kind whose conditions say how it is.
type Object interface {
	client.Object
	conditions.Getter
}

// Recording follows one pass over an object.
type Recording struct {
	recorder *Recorder
	ctx      context.Context
	obj      Object
	before   []metav1.Condition

	outcomes   []arm.Outcome
	failures   []error
	ignored    []string
	leftBehind []string
}

// StartRecording begins to follow a pass over obj, as it is stored.
func (t *Recorder) StartRecording(ctx context.Context, obj Object) *Recording {
	return &Recording{recorder: t, ctx: ctx, obj: obj, before: slices.Clone(obj.GetConditions())}
}

// ContinueWith begins to follow what else is to be said at the end of the same pass, over obj, which may be another copy. What was told stays told.
func (p *Recording) ContinueWith(obj Object) *Recording {
	return &Recording{recorder: p.recorder, ctx: p.ctx, obj: obj, before: p.before}
}

// AddOutcome is what the engine found and did.
func (p *Recording) AddOutcome(outcome arm.Outcome) { p.outcomes = append(p.outcomes, outcome) }

// AddError is an error that the pass went into a condition with.
func (p *Recording) AddError(err error) { p.failures = append(p.failures, err) }

// AddIgnored is something that users gave and that does not count, which no condition tells.
func (p *Recording) AddIgnored(text string) { p.ignored = append(p.ignored, text) }

// AddLeftBehind is something that may be the object's and stays in Azure when the object goes.
func (p *Recording) AddLeftBehind(text string) { p.leftBehind = append(p.leftBehind, text) }

// EmitEvents tells what is new. It is for the defer of a pass.
func (p *Recording) EmitEvents() {
	for _, outcome := range p.outcomes {
		for _, change := range outcome.Changes {
			p.emitChange(change)
		}
	}
	for _, text := range p.ignored {
		p.recorder.WarnOnce(p.ctx, p.obj, "ignored", infrav1.IgnoredReason, text, nil)
	}
	for _, text := range p.leftBehind {
		p.recorder.WarnOnce(p.ctx, p.obj, "left behind", infrav1.LeftBehindInAzureReason, text, nil)
	}
	covered := p.emitErrors()
	p.emitConditions(covered)
	if findCondition(p.obj.GetConditions(), infrav1.ReadyCondition).Status == metav1.ConditionTrue {
		if len(p.failures) == 0 {
			p.markResolved("pass")
		}
		if findCondition(p.before, infrav1.ReadyCondition).Status != metav1.ConditionTrue {
			p.recorder.emitEvent(p.obj, nil, corev1.EventTypeNormal, infrav1.ReadyReason, "everything is in place")
		}
	}
	if !p.obj.GetDeletionTimestamp().IsZero() && len(p.obj.GetFinalizers()) == 0 {
		p.recorder.Forget(p.obj, client.ObjectKeyFromObject(p.obj))
	}
}

// emitChange tells of something that was brought about in Azure.
func (p *Recording) emitChange(change arm.Change) {
	note := strings.ToLower(string(change.Kind)) + " " + change.ID.ShortName()
	if len(change.Paths) > 0 {
		note += ": " + strings.Join(change.Paths, ", ")
	}
	if took := change.Duration.Round(100 * time.Millisecond); took > 0 {
		note += " (" + took.String() + ")"
	}
	p.recorder.emitEvent(p.obj, resourceReference(change.ID), corev1.EventTypeNormal, string(change.Kind), note)
}

// emitErrors tells the errors of the pass, and returns the texts that conditions may repeat.
func (p *Recording) emitErrors() (covered []string) {
	for _, outcome := range p.outcomes {
		p.markResolved("pass")
		for _, result := range outcome.Results {
			switch matter := result.ID.Key(); {
			case result.Err != nil:
				covered = append(covered, result.Err.Error())
				if isReportable(result.Err) {
					p.emitCause(matter, resourceReference(result.ID), status.ResultReason(result), result.Err.Error(), result.Err)
				}
			case result.IsDone() || result.State == arm.Gone:
				p.markResolved(matter)
			}
		}
	}
	for _, err := range p.failures {
		covered = append(covered, err.Error())
		if !isReportable(err) {
			continue
		}
		condition, _ := status.ProblemCondition("", err)
		p.emitCause("pass", nil, condition.Reason, err.Error(), err)
	}
	return covered
}

// IsFailure reports whether an error that ends a reconciliation is one to show on the object. A conflict is not: the object is reconciled
// again in its newer form. Neither is an error while the context is cancelled, because the manager ends.
func IsFailure(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !apierrors.IsConflict(err)
}

// isReportable tells whether an error is one that people should know of: other operations that end by themselves are not, and
// neither are requests that were held back here, or given up because the manager ends.
func isReportable(err error) bool {
	return !errors.Is(err, context.Canceled) && (arm.IsThrottled(err) || arm.Classify(err) != arm.ClassWaiting)
}

// emitConditions tells the problems that conditions show and that are not among those covered.
func (p *Recording) emitConditions(covered []string) {
	for _, condition := range summariesLast(p.obj.GetConditions()) {
		matter := "condition/" + condition.Type
		if condition.Status == metav1.ConditionTrue && condition.Reason != infrav1.DriftedReason {
			p.markResolved(matter)
		}
		if !isProblem(condition) || slices.ContainsFunc(covered, func(cause string) bool { return containsCause(condition.Message, cause) }) {
			continue
		}
		covered = append(covered, condition.Message)
		p.emitCause(matter, nil, condition.Reason, condition.Message, nil)
	}
}

// summariesLast has the conditions that sum others up last.
func summariesLast(list []metav1.Condition) []metav1.Condition {
	rank := func(c metav1.Condition) int {
		return slices.Index([]string{infrav1.NetworkInfrastructureReadyCondition, infrav1.ReadyCondition}, c.Type)
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b metav1.Condition) int { return rank(a) - rank(b) })
	return out
}

// isProblem tells whether a condition shows something that is not merely under way.
func isProblem(condition metav1.Condition) bool {
	if condition.Message == "" || condition.Status == metav1.ConditionUnknown {
		return false
	}
	if condition.Status == metav1.ConditionTrue {
		return condition.Reason == infrav1.DriftedReason
	}
	for _, underWay := range []string{infrav1.CreatingReason, infrav1.UpdatingReason, infrav1.DeletingReason} {
		if strings.HasSuffix(condition.Reason, underWay) {
			return false
		}
	}
	return !strings.HasPrefix(condition.Reason, infrav1.WaitingReason) &&
		!slices.Contains([]string{
			infrav1.BlockedByDependencyReason, infrav1.DeletedReason, "NotPaused",
			infrav1.ScaleSetScalingUpReason, infrav1.ScaleSetScalingDownReason, infrav1.ScaleSetModelOutOfDateReason, infrav1.ScaleSetModelLimitReason,
		}, condition.Reason)
}

// emitCause tells a cause unless it was told, or the stored conditions had it: then an earlier process has told it.
func (p *Recording) emitCause(matter string, related *corev1.ObjectReference, reason, cause string, err error) {
	known := slices.ContainsFunc(p.before, func(c metav1.Condition) bool { return containsCause(c.Message, cause) })
	if p.recorder.rememberCause(p.obj, matter, cause) && !known {
		p.recorder.emitWarning(p.ctx, p.obj, related, reason, cause, err)
	}
}

// containsCause reports whether the message of a condition tells a cause. The API server bounds messages, so the beginning of a long cause is enough.
func containsCause(message, cause string) bool {
	return strings.Contains(message, cause[:min(len(cause), text.MaxNote)])
}

func (p *Recording) markResolved(matter string) { p.recorder.rememberCause(p.obj, matter, "") }

// rememberCause tells whether a text is another one than what was told last; "" is that it is over.
func (t *Recorder) rememberCause(obj client.Object, matter, text string) bool {
	key := objectKey(obj, client.ObjectKeyFromObject(obj))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reported[key][matter] == text {
		return false
	}
	if text == "" {
		if delete(t.reported[key], matter); len(t.reported[key]) == 0 {
			delete(t.reported, key)
		}
		return false
	}
	if t.reported[key] == nil {
		t.reported[key] = map[string]string{}
	}
	t.reported[key][matter] = text
	return true
}

func objectKey(kind client.Object, key client.ObjectKey) string {
	return fmt.Sprintf("%T %s", kind, key)
}

// WarnOnce tells a problem of an object that has no condition for it, once until Fine is called for the same matter. err has the
// request of Azure that it came from, and may be nil.
func (t *Recorder) WarnOnce(ctx context.Context, obj client.Object, matter, reason, text string, err error) {
	if t.rememberCause(obj, matter, text) {
		t.emitWarning(ctx, obj, nil, reason, text, err)
	}
}

// MarkResolved says that what Warn told of a matter is over.
func (t *Recorder) MarkResolved(obj client.Object, matter string) { t.rememberCause(obj, matter, "") }

// Forget drops what is remembered of an object of the kind that is gone.
func (t *Recorder) Forget(kind client.Object, key client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.reported, objectKey(kind, key))
}

// emitWarning tells a cause in an event and in the log.
func (t *Recorder) emitWarning(ctx context.Context, obj client.Object, related *corev1.ObjectReference, reason, cause string, err error) {
	id := arm.RequestID(err)
	ctrl.LoggerFrom(ctx).Info("a new cause of a problem", "reason", reason, "cause", cause, "requestID", id)
	if id != "" {
		id = " (Azure request " + id + ")"
	}
	t.emitEvent(obj, related, corev1.EventTypeWarning, reason, text.Cut(cause, text.MaxNote-len(id))+id)
}

// emitEvent records an event. Without what it is related to, one of the same reason within minutes would count as the same event.
func (t *Recorder) emitEvent(obj client.Object, related *corev1.ObjectReference, eventType, reason, note string) {
	var to runtime.Object
	if related != nil {
		to = related
	}
	t.recorder.Eventf(obj, to, eventType, reason, "Reconcile", "%s", note)
}

// resourceReference refers to a resource of Azure.
func resourceReference(id arm.ID) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: id.Type(), Name: id.ShortName()}
}

func findCondition(list []metav1.Condition, conditionType string) metav1.Condition {
	for _, condition := range list {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}
