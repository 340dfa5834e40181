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

// Teller tells the stories of the objects of one controller. It is safe for concurrent use.
type Teller struct {
	recorder events.EventRecorder

	mu sync.Mutex
	// told are the causes that were told and are not over, by object and by what they are causes of.
	told map[string]map[string]string
}

// New makes a Teller.
func New(recorder events.EventRecorder) *Teller {
	return &Teller{recorder: Bounded(recorder), told: map[string]map[string]string{}}
}

// Object is of a kind whose conditions say how it is.
type Object interface {
	client.Object
	conditions.Getter
}

// Pass follows one pass over an object.
type Pass struct {
	teller *Teller
	ctx    context.Context
	obj    Object
	before []metav1.Condition

	outcomes []arm.Outcome
	failures []error
	ignored  []string
	left     []string
}

// Begin begins to follow a pass over obj, as it is stored.
func (t *Teller) Begin(ctx context.Context, obj Object) *Pass {
	return &Pass{teller: t, ctx: ctx, obj: obj, before: slices.Clone(obj.GetConditions())}
}

// Again begins to follow what else is to be said at the end of the same pass, over obj, which may be another copy. What was told stays told.
func (p *Pass) Again(obj Object) *Pass {
	return &Pass{teller: p.teller, ctx: p.ctx, obj: obj, before: p.before}
}

// Saw is what the engine found and did.
func (p *Pass) Saw(outcome arm.Outcome) { p.outcomes = append(p.outcomes, outcome) }

// Failed is an error that the pass went into a condition with.
func (p *Pass) Failed(err error) { p.failures = append(p.failures, err) }

// Ignored is something that users gave and that does not count, which no condition tells.
func (p *Pass) Ignored(text string) { p.ignored = append(p.ignored, text) }

// LeftBehind is something that may be the object's and stays in Azure when the object goes.
func (p *Pass) LeftBehind(text string) { p.left = append(p.left, text) }

// End tells what is new. It is for the defer of a pass.
func (p *Pass) End() {
	for _, outcome := range p.outcomes {
		for _, change := range outcome.Changes {
			p.change(change)
		}
	}
	for _, text := range p.ignored {
		p.teller.Warn(p.ctx, p.obj, "ignored", infrav1.IgnoredReason, text, nil)
	}
	for _, text := range p.left {
		p.teller.Warn(p.ctx, p.obj, "left behind", infrav1.LeftBehindInAzureReason, text, nil)
	}
	covered := p.errors()
	p.conditions(covered)
	if find(p.obj.GetConditions(), infrav1.ReadyCondition).Status == metav1.ConditionTrue {
		if len(p.failures) == 0 {
			p.over("pass")
		}
		if find(p.before, infrav1.ReadyCondition).Status != metav1.ConditionTrue {
			p.teller.event(p.obj, nil, corev1.EventTypeNormal, infrav1.ReadyReason, "everything is in place")
		}
	}
	if !p.obj.GetDeletionTimestamp().IsZero() && len(p.obj.GetFinalizers()) == 0 {
		p.teller.Forget(p.obj, client.ObjectKeyFromObject(p.obj))
	}
}

// change tells of something that was brought about in Azure.
func (p *Pass) change(change arm.Change) {
	note := strings.ToLower(string(change.Kind)) + " " + change.ID.ShortName()
	if len(change.Paths) > 0 {
		note += ": " + strings.Join(change.Paths, ", ")
	}
	if took := change.Duration.Round(100 * time.Millisecond); took > 0 {
		note += " (" + took.String() + ")"
	}
	p.teller.event(p.obj, resource(change.ID), corev1.EventTypeNormal, string(change.Kind), note)
}

// errors tells the errors of the pass, and returns the texts that conditions may repeat.
func (p *Pass) errors() (covered []string) {
	for _, outcome := range p.outcomes {
		p.over("pass")
		for _, result := range outcome.Results {
			switch slot := result.ID.Key(); {
			case result.Err != nil:
				covered = append(covered, result.Err.Error())
				if tellable(result.Err) {
					p.cause(slot, resource(result.ID), status.Reason(result), result.Err.Error(), result.Err)
				}
			case result.IsDone() || result.State == arm.Gone:
				p.over(slot)
			}
		}
	}
	for _, err := range p.failures {
		covered = append(covered, err.Error())
		if !tellable(err) {
			continue
		}
		condition, _ := status.Problem("", err)
		p.cause("pass", nil, condition.Reason, err.Error(), err)
	}
	return covered
}

// IsFailure reports whether an error that ends a reconciliation is one to show on the object. A conflict is not: the object is reconciled
// again in its newer form. Neither is an error while the context is cancelled, because the manager ends.
func IsFailure(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !apierrors.IsConflict(err)
}

// tellable tells whether an error is one that people should know of: other operations that end by themselves are not, and
// neither are requests that were held back here, or given up because the manager ends.
func tellable(err error) bool {
	return !errors.Is(err, context.Canceled) && (arm.IsThrottled(err) || arm.Classify(err) != arm.ClassWaiting)
}

// conditions tells the problems that conditions show and that are not among those covered.
func (p *Pass) conditions(covered []string) {
	for _, condition := range ordered(p.obj.GetConditions()) {
		slot := "condition/" + condition.Type
		if condition.Status == metav1.ConditionTrue && condition.Reason != infrav1.DriftedReason {
			p.over(slot)
		}
		if !problem(condition) || slices.ContainsFunc(covered, func(cause string) bool { return has(condition.Message, cause) }) {
			continue
		}
		covered = append(covered, condition.Message)
		p.cause(slot, nil, condition.Reason, condition.Message, nil)
	}
}

// ordered has the conditions that sum others up last.
func ordered(list []metav1.Condition) []metav1.Condition {
	rank := func(c metav1.Condition) int {
		return slices.Index([]string{infrav1.NetworkInfrastructureReadyCondition, infrav1.ReadyCondition}, c.Type)
	}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b metav1.Condition) int { return rank(a) - rank(b) })
	return out
}

// problem tells whether a condition shows something that is not merely under way.
func problem(condition metav1.Condition) bool {
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

// cause tells a cause unless it was told, or the stored conditions had it: then an earlier process has told it.
func (p *Pass) cause(slot string, related *corev1.ObjectReference, reason, cause string, err error) {
	known := slices.ContainsFunc(p.before, func(c metav1.Condition) bool { return has(c.Message, cause) })
	if p.teller.first(p.obj, slot, cause) && !known {
		p.teller.warn(p.ctx, p.obj, related, reason, cause, err)
	}
}

// has reports whether the message of a condition tells a cause. The API server bounds messages, so the beginning of a long cause is enough.
func has(message, cause string) bool {
	return strings.Contains(message, cause[:min(len(cause), text.MaxNote)])
}

func (p *Pass) over(slot string) { p.teller.first(p.obj, slot, "") }

// first tells whether a text is another one than what was told last; "" is that it is over.
func (t *Teller) first(obj client.Object, slot, text string) bool {
	key := keyOf(obj, client.ObjectKeyFromObject(obj))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told[key][slot] == text {
		return false
	}
	if text == "" {
		if delete(t.told[key], slot); len(t.told[key]) == 0 {
			delete(t.told, key)
		}
		return false
	}
	if t.told[key] == nil {
		t.told[key] = map[string]string{}
	}
	t.told[key][slot] = text
	return true
}

func keyOf(kind client.Object, key client.ObjectKey) string { return fmt.Sprintf("%T %s", kind, key) }

// Warn tells a problem of an object that has no condition for it, once until Fine is called for the same matter. err has the
// request of Azure that it came from, and may be nil.
func (t *Teller) Warn(ctx context.Context, obj client.Object, matter, reason, text string, err error) {
	if t.first(obj, matter, text) {
		t.warn(ctx, obj, nil, reason, text, err)
	}
}

// Fine says that what Warn told of a matter is over.
func (t *Teller) Fine(obj client.Object, matter string) { t.first(obj, matter, "") }

// Forget drops what is remembered of an object of the kind that is gone.
func (t *Teller) Forget(kind client.Object, key client.ObjectKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.told, keyOf(kind, key))
}

// warn tells a cause in an event and in the log.
func (t *Teller) warn(ctx context.Context, obj client.Object, related *corev1.ObjectReference, reason, cause string, err error) {
	id := arm.RequestID(err)
	ctrl.LoggerFrom(ctx).Info("a new cause of a problem", "reason", reason, "cause", cause, "requestID", id)
	if id != "" {
		id = " (Azure request " + id + ")"
	}
	t.event(obj, related, corev1.EventTypeWarning, reason, text.Cut(cause, text.MaxNote-len(id))+id)
}

// event records an event. Without what it is related to, one of the same reason within minutes would count as the same event.
func (t *Teller) event(obj client.Object, related *corev1.ObjectReference, eventType, reason, note string) {
	var to runtime.Object
	if related != nil {
		to = related
	}
	t.recorder.Eventf(obj, to, eventType, reason, "Reconcile", "%s", note)
}

// resource refers to a resource of Azure.
func resource(id arm.ID) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: id.Type(), Name: id.ShortName()}
}

func find(list []metav1.Condition, conditionType string) metav1.Condition {
	for _, condition := range list {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}
