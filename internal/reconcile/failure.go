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

// reportFailure has Ready and the foremost condition show an error that is no verdict, and one Warning tell it. It changes the object in memory.
func (p *reconciliation[O, I]) reportFailure(err error) {
	p.recording.AddError(err)
	if p.isDeleting() {
		deletion.ReplaceConditions(p.object, deletionFailureCondition(err), p.declaration.PrimaryCondition)
		return
	}
	// Ready is no sum here: another condition that is False would hide the error.
	status.SetInternalError(p.object, err, p.declaration.PrimaryCondition, infrav1.ReadyCondition)
}

// deletionFailureCondition is the condition of an object that is being deleted: no verdict about its resources counts any more.
func deletionFailureCondition(err error) metav1.Condition {
	condition := status.InternalErrorCondition(infrav1.ReadyCondition, err)
	condition.Status = metav1.ConditionFalse
	return condition
}

// writeChanges writes what the pass changed, and returns the error that the pass ends with: err, or that of the write. A pass that failed has not
// looked at everything, so it does not record what it observed.
func (p *reconciliation[O, I]) writeChanges(ctx context.Context, err error) error {
	if err == nil {
		return p.changes.Finish(ctx)
	}
	failure := p.changes.Write(ctx)
	p.failureShown = failure == nil || p.recordLostStatus(ctx, failure)
	return err
}

// showFailure writes into the conditions of the object, and into nothing else of it, which error ended the pass. The rest of what the pass
// changed may be what the API server refuses.
func (p *reconciliation[O, I]) showFailure(ctx context.Context, err error) {
	if p.failureShown || !eventlog.IsFailure(ctx, err) {
		return
	}
	if p.recordLostStatus(ctx, err) {
		return
	}
	if p.changes != nil {
		p.object = p.changes.StoredObject().(O)
	}
	p.changes = patch.TrackChanges(p.Client, &p.writes, p.object)
	if p.recording == nil {
		p.recording = p.eventLog.StartRecording(ctx, p.object)
	} else {
		p.recording = p.recording.ContinueWith(p.object)
	}
	p.reportFailure(err)
	p.recording.EmitEvents()
	if failure := p.changes.Write(ctx); failure != nil {
		p.recordLostStatus(ctx, failure)
	}
}

// recordLostStatus logs and counts a status of the object that could not be written, and reports whether err is about that. A status that was written by
// others at the same time is written again, and one of an object that is gone is of no use.
func (p *reconciliation[O, I]) recordLostStatus(ctx context.Context, err error) bool {
	if !p.isStatusError(err) {
		return false
	}
	if eventlog.IsFailure(ctx, err) && !apierrors.IsNotFound(err) {
		ctrl.LoggerFrom(ctx).Error(err, "the status cannot be written, so that the object does not show what became of it")
		metrics.StatusWriteFailed(p.declaration.Name)
	}
	return true
}

// isStatusError reports whether an error is a failed write of the object's own status.
func (p *reconciliation[O, I]) isStatusError(err error) bool {
	var status *patch.StatusError
	return errors.As(err, &status) && status.IsOf(p.object)
}
