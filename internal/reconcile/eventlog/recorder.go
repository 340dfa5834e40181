// Package eventlog emits events about an object, so that kubectl describe shows its history: the resources created, repaired, adopted
// and deleted in Azure, the moment it became ready, and every cause of a problem, with Azure's code and the request ID, which
// conditions leave out.
//
// A cause is emitted once, as a Warning: not for each resource that it affects, not again in the next reconciliation, not with another
// request ID, and not after a restart while a stored condition has it. It is emitted again when it returns after it was resolved.
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

// Recorder emits the events of one controller. It is safe for concurrent use.
type Recorder struct {
	recorder events.EventRecorder

	mu sync.Mutex
	// reported has the keys of the causes that were emitted for each object and matter, until the matter is resolved.
	reported map[string]map[string][]string
}

// NewRecorder returns a Recorder.
func NewRecorder(recorder events.EventRecorder) *Recorder {
	return &Recorder{recorder: NewBoundedRecorder(recorder), reported: map[string]map[string][]string{}}
}

// Object has conditions.
type Object interface {
	client.Object
	conditions.Getter
}

// Recording collects the events of one reconciliation.
type Recording struct {
	recorder *Recorder
	ctx      context.Context
	obj      Object
	before   []metav1.Condition

	outcomes   []arm.Outcome
	failures   []error
	ignored    []string
	leftBehind []string
	warnings   []*warning
}

// StartRecording starts the recording of a reconciliation of obj, which has the stored conditions.
func (t *Recorder) StartRecording(ctx context.Context, obj Object) *Recording {
	return &Recording{recorder: t, ctx: ctx, obj: obj, before: slices.Clone(obj.GetConditions())}
}

// ContinueWith starts a second recording of the same reconciliation, for obj, which may be another copy. Causes that were emitted are
// not emitted again.
func (p *Recording) ContinueWith(obj Object) *Recording {
	return &Recording{recorder: p.recorder, ctx: p.ctx, obj: obj, before: p.before}
}

// AddOutcome adds the changes and errors of an outcome of the engine.
func (p *Recording) AddOutcome(outcome arm.Outcome) { p.outcomes = append(p.outcomes, outcome) }

// AddError adds an error that a condition shows.
func (p *Recording) AddError(err error) { p.failures = append(p.failures, err) }

// AddIgnored adds a warning about input that has no effect and that no condition shows.
func (p *Recording) AddIgnored(text string) { p.ignored = append(p.ignored, text) }

// AddLeftBehind adds a warning about resources that may be the object's and stay in Azure when the object is gone.
func (p *Recording) AddLeftBehind(text string) { p.leftBehind = append(p.leftBehind, text) }

// EmitEvents emits the new events at the end of a reconciliation.
func (p *Recording) EmitEvents() {
	for _, outcome := range p.outcomes {
		for _, change := range outcome.Changes {
			p.emitChange(change)
		}
	}
	for _, text := range p.ignored {
		p.warnOnce("ignored", infrav1.IgnoredReason, text)
	}
	for _, text := range p.leftBehind {
		p.warnOnce("left behind", infrav1.LeftBehindInAzureReason, text)
	}
	p.emitIntentions()
	covered := p.emitErrors()
	p.emitConditions(covered)
	p.emitWarnings()
	if findCondition(p.obj.GetConditions(), infrav1.ReadyCondition).Status == metav1.ConditionTrue {
		if len(p.failures) == 0 {
			p.markResolved("reconciliation")
		}
		if findCondition(p.before, infrav1.ReadyCondition).Status != metav1.ConditionTrue {
			p.recorder.emitEvent(p.obj, nil, corev1.EventTypeNormal, infrav1.ReadyReason, "everything is in place")
		}
	}
	if !p.obj.GetDeletionTimestamp().IsZero() && len(p.obj.GetFinalizers()) == 0 {
		p.recorder.Forget(p.obj, client.ObjectKeyFromObject(p.obj))
	}
}

// emitChange emits an event about a change in Azure.
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

// emitIntentions emits an event when the writes that an observed object waits with have changed.
func (p *Recording) emitIntentions() {
	now := findCondition(p.obj.GetConditions(), infrav1.DriftedCondition)
	if now.Status == metav1.ConditionTrue && now.Message != findCondition(p.before, infrav1.DriftedCondition).Message {
		p.recorder.emitEvent(p.obj, nil, corev1.EventTypeNormal, infrav1.DriftedReason, text.Truncate(now.Message, text.MaxNote))
	}
}

// emitErrors emits the errors of the reconciliation, and returns the texts that conditions may repeat.
func (p *Recording) emitErrors() (covered []string) {
	for _, outcome := range p.outcomes {
		p.markResolved("reconciliation")
		for _, result := range outcome.Results {
			switch matter := result.ID.Key(); {
			case result.Err != nil:
				covered = append(covered, result.Err.Error(), status.DescribeProblem(result.Err))
			case result.IsDone() || result.State == arm.Gone:
				p.markResolved(matter)
			}
		}
		for _, c := range groupCauses(outcome) {
			p.emitCause(c)
		}
	}
	for _, err := range p.failures {
		covered = append(covered, err.Error(), status.DescribeProblem(err))
		if !isReportable(err) {
			continue
		}
		condition, _ := status.ProblemCondition("", err)
		p.emitCause(&cause{key: causeKey(condition.Reason, "", err), matters: []string{"reconciliation"}, reason: condition.Reason, texts: []string{err.Error()}, err: err})
	}
	return covered
}

// IsFailure reports whether the object has to show an error that ends a reconciliation. Conflicts are excluded, because the newer
// version is reconciled next, and errors during the shutdown of the manager.
func IsFailure(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !apierrors.IsConflict(err)
}

// isReportable reports whether an error is worth an event. Operations that end by themselves are not, and neither are requests that
// waited for a budget or were cancelled by the shutdown of the manager.
func isReportable(err error) bool {
	return !errors.Is(err, context.Canceled) && (arm.IsThrottled(err) || arm.Classify(err) != arm.ClassWaiting)
}

// emitConditions emits the problems of conditions that are not in covered.
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
		p.emitCause(&cause{key: condition.Message, matters: []string{matter}, reason: condition.Reason, texts: []string{condition.Message}})
	}
}

// summariesLast sorts conditions that summarize others to the end.
func summariesLast(list []metav1.Condition) []metav1.Condition {
	rank := func(c metav1.Condition) int {
		return slices.Index([]string{infrav1.NetworkInfrastructureReadyCondition, infrav1.ReadyCondition}, c.Type)
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b metav1.Condition) int { return rank(a) - rank(b) })
	return out
}

// isProblem reports whether a condition shows more than ordinary progress.
func isProblem(condition metav1.Condition) bool {
	if condition.Message == "" || condition.Status == metav1.ConditionUnknown || status.IsOtherCause(condition.Message) {
		return false
	}
	if condition.Status == metav1.ConditionTrue {
		return condition.Reason == infrav1.DriftedReason
	}
	return status.IsProblem(condition.Reason)
}

// emitCause emits a cause unless it was emitted before. If a stored condition had it, an earlier process has emitted it.
func (p *Recording) emitCause(c *cause) {
	known := slices.ContainsFunc(p.before, func(condition metav1.Condition) bool {
		return slices.ContainsFunc(c.texts, func(text string) bool { return containsCause(condition.Message, text) })
	})
	isNew := false
	for _, matter := range c.matters {
		isNew = p.recorder.rememberCause(p.obj, matter, c.key) || isNew
	}
	if isNew && !known {
		if isRead(c.err) {
			// The log has the answers to writes already. The line of a condition has no request ID.
			logProblem(p.ctx, c.reason, c.note(), c.err)
		}
		p.addWarning(c.related, c.reason, c.note(), c.err)
	}
}

// isRead reports whether an error is the answer of Azure to a read, or that of Entra ID to the sign-in for one.
func isRead(err error) bool {
	var azure *arm.Error
	return errors.As(err, &azure) && azure.Method == "GET"
}

// warnOnce adds a problem that no condition has, as Recorder.WarnOnce does.
func (p *Recording) warnOnce(matter, reason, text string) {
	if p.recorder.rememberCause(p.obj, matter, text) {
		logProblem(p.ctx, reason, text, nil)
		p.addWarning(nil, reason, text, nil)
	}
}

// logProblem logs a problem that no other line has with the request ID.
func logProblem(ctx context.Context, reason, cause string, err error) {
	ctrl.LoggerFrom(ctx).Info("New problem", "reason", reason, "cause", cause, "requestID", arm.RequestID(err))
}

// containsCause reports whether a message contains a cause. The API server limits messages, so the beginning of a long cause is enough.
func containsCause(message, cause string) bool {
	return strings.Contains(message, cause[:min(len(cause), text.MaxNote)])
}

func (p *Recording) markResolved(matter string) { p.recorder.MarkResolved(p.obj, matter) }

// maxCauses is the number of causes of one matter that are remembered. One that alternates with others is emitted once.
const maxCauses = 16

// rememberCause adds a cause to a matter, and reports whether it is new: neither this matter nor another one of the object has it.
func (t *Recorder) rememberCause(obj client.Object, matter, cause string) bool {
	key := objectKey(obj, client.ObjectKeyFromObject(obj))
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.reported[key][matter], cause) {
		return false
	}
	if t.reported[key] == nil {
		t.reported[key] = map[string][]string{}
	}
	isNew := true
	for _, causes := range t.reported[key] {
		isNew = isNew && !slices.Contains(causes, cause)
	}
	known := slices.Concat(t.reported[key][matter], []string{cause})
	t.reported[key][matter] = known[max(0, len(known)-maxCauses):]
	return isNew
}

func objectKey(kind client.Object, key client.ObjectKey) string {
	return fmt.Sprintf("%T %s", kind, key)
}

// WarnOnce emits a problem of an object that has no condition for it, once until MarkResolved is called for the same matter. err has
// the Azure request ID and may be nil.
func (t *Recorder) WarnOnce(ctx context.Context, obj client.Object, matter, reason, text string, err error) {
	if t.rememberCause(obj, matter, text) {
		logProblem(ctx, reason, text, err)
		alone := &warning{reason: reason, texts: []string{text}, ids: []string{arm.RequestID(err)}}
		t.emitEvent(obj, nil, corev1.EventTypeWarning, reason, alone.note())
	}
}

// MarkResolved ends a matter: its causes are emitted when they return.
func (t *Recorder) MarkResolved(obj client.Object, matter string) {
	key := objectKey(obj, client.ObjectKeyFromObject(obj))
	t.mu.Lock()
	defer t.mu.Unlock()
	if delete(t.reported[key], matter); len(t.reported[key]) == 0 {
		delete(t.reported, key)
	}
}

// Forget drops the memory of an object that is gone.
func (t *Recorder) Forget(kind client.Object, key client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.reported, objectKey(kind, key))
}

// emitEvent emits an event. The Sender counts it in an earlier one if that has the same text and is minutes old at most.
func (t *Recorder) emitEvent(obj client.Object, related *corev1.ObjectReference, eventType, reason, note string) {
	var to runtime.Object
	if related != nil {
		to = related
	}
	t.recorder.Eventf(obj, to, eventType, reason, "Reconcile", "%s", note)
}

// resourceReference returns a reference to an Azure resource.
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
