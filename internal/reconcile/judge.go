package reconcile

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// judge does the work of the pass and has the object say what a verdict is. The error is the manager's own trouble.
func (p *pass[O, I]) judge(ctx context.Context) (outcome, time.Duration, error) {
	for _, conditionType := range p.declared.Dropped {
		conditions.Delete(p.object, conditionType)
	}
	ended, after, err := p.work(ctx, p)
	v := verdictOf(err)
	if v == nil {
		return ended, after, err
	}
	if v.cause != nil && ctx.Err() != nil {
		// The manager ends. What it could not learn for that is no news about the object.
		return v.what, 0, ctx.Err()
	}
	switch v.what {
	case refused:
		p.say(status.Refusal(p.declared.Foremost, v.errs))
		return v.what, status.RefusedRetry, nil
	case unread:
		return v.what, p.unread(v), nil
	case waits:
		if p.deleting() {
			deletion.Say(p.object, v.says, p.declared.Foremost)
		} else {
			p.say(v.says)
		}
	case again:
		if v.cause != nil {
			p.story.Failed(v.cause)
		}
	case abandons:
		azure := v.azure
		if cluster := p.subject.Cluster; cluster != nil {
			azure += ". To list all of the Cluster's resources, run: az resource list --tag " + arm.ShellQuote(infrav1.ClusterTagKey(cluster.Name)+"="+infrav1.TagOwned) + " --query \"[].id\" --output tsv"
		}
		deletion.Abandon(ctx, p.recorder, p.object, v.why, azure)
		return v.what, 0, p.letGo(ctx)
	case letsGo:
		return v.what, 0, p.letGo(ctx)
	}
	if v.after == UntilResync {
		return v.what, p.Resync, nil
	}
	// Nothing of an object is left alone for longer than what is in order.
	return v.what, min(v.after, p.Resync), nil
}

// say makes condition the foremost one, and has those say it that follow from that.
func (p *pass[O, I]) say(condition metav1.Condition) {
	condition.Type = p.declared.Foremost
	conditions.Set(p.object, condition)
	if len(p.declared.Summed) > 0 {
		Summarize(p.object, p.declared.Summed)
		return
	}
	condition.Type = infrav1.ReadyCondition
	conditions.Set(p.object, condition)
}

// unread says why something could not be learned, and returns when to try again. Of an object that is being deleted it says
// the ways out.
func (p *pass[O, I]) unread(v *verdict) time.Duration {
	p.story.Failed(v.cause)
	if p.deleting() && p.held != nil {
		condition, after := status.Problem(infrav1.ReadyCondition, v.cause)
		p.held().Stuck(p.object, condition, v.cause, p.declared.Foremost)
		return after
	}
	said := v.condition
	if said == "" {
		said = p.declared.Foremost
	}
	if len(p.declared.Summed) == 0 {
		return status.Unread(p.object, v.cause, said, infrav1.ReadyCondition)
	}
	after := status.Unread(p.object, v.cause, said)
	Summarize(p.object, p.declared.Summed)
	return after
}

// Summarize makes Ready the sum of those of the conditions in types that the object has.
func Summarize(object Object, types []string) {
	var all []metav1.Condition
	for _, condition := range object.GetConditions() {
		if slices.Contains(types, condition.Type) {
			all = append(all, condition)
		}
	}
	slices.SortStableFunc(all, func(a, b metav1.Condition) int {
		return slices.Index(types, a.Type) - slices.Index(types, b.Type)
	})
	status.Put(object, status.Summary(infrav1.ReadyCondition, all))
}
