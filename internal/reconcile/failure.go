package reconcile

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// fail has Ready and the foremost condition show an error that is no verdict, and one Warning tell it. It changes the object in memory.
func (p *pass[O, I]) fail(err error) {
	p.story.Failed(err)
	if p.deleting() {
		deletion.Say(p.object, withdrawn(err), p.declared.Foremost)
		return
	}
	// Ready is no sum here: another condition that is False would hide the error.
	status.PutBroken(p.object, err, p.declared.Foremost, infrav1.ReadyCondition)
}

// withdrawn is the condition of an object that is being deleted: no verdict about its resources counts any more.
func withdrawn(err error) metav1.Condition {
	condition := status.Broken(infrav1.ReadyCondition, err)
	condition.Status = metav1.ConditionFalse
	return condition
}

// write writes what the pass changed, and returns the error that the pass ends with: err, or that of the write. A pass that failed has not
// looked at everything, so it does not record what it observed.
func (p *pass[O, I]) write(ctx context.Context, err error) error {
	if err == nil {
		return p.changes.Finish(ctx)
	}
	failure := p.changes.Write(ctx)
	p.shown = failure == nil || p.lost(ctx, failure)
	return err
}

// showFailure writes into the conditions of the object, and into nothing else of it, which error ended the pass. The rest of what the pass
// changed may be what the API server refuses.
func (p *pass[O, I]) showFailure(ctx context.Context, err error) {
	if p.shown || !eventlog.IsFailure(ctx, err) {
		return
	}
	if p.lost(ctx, err) {
		return
	}
	if p.changes != nil {
		p.object = p.changes.Stored().(O)
	}
	p.changes = patch.Follow(p.Client, &p.written, p.object)
	if p.story == nil {
		p.story = p.teller.Begin(ctx, p.object)
	} else {
		p.story = p.story.Again(p.object)
	}
	p.fail(err)
	p.story.End()
	if failure := p.changes.Write(ctx); failure != nil {
		p.lost(ctx, failure)
	}
}

// lost logs and counts a status of the object that could not be written, and reports whether err is about that. A status that was written by
// others at the same time is written again, and one of an object that is gone is of no use.
func (p *pass[O, I]) lost(ctx context.Context, err error) bool {
	if !p.ofStatus(err) {
		return false
	}
	if eventlog.IsFailure(ctx, err) && !apierrors.IsNotFound(err) {
		ctrl.LoggerFrom(ctx).Error(err, "the status cannot be written, so that the object does not show what became of it")
		metrics.StatusWriteFailed(p.declared.Name)
	}
	return true
}

// ofStatus reports whether an error is a failed write of the object's own status.
func (p *pass[O, I]) ofStatus(err error) bool {
	var status *patch.StatusError
	return errors.As(err, &status) && status.IsOf(p.object)
}
