package reconcile

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// reportFailure shows an error that is no stopReason in Ready and in PrimaryCondition, and emits one Warning. It changes the object in
// memory only.
func (p *reconciliation[O, I]) reportFailure(err error) {
	p.recording.AddError(err)
	if p.isDeleting() {
		deletion.ReplaceConditions(p.object, deletionFailureCondition(err), p.declaration.PrimaryCondition)
		return
	}
	// Ready is not summarized here: another condition that is False would hide the error.
	status.SetInternalError(p.object, err, p.declaration.PrimaryCondition, infrav1.ReadyCondition)
}

// deletionFailureCondition returns the condition of an object that is being deleted. It is False, because earlier findings about the
// resources no longer count.
func deletionFailureCondition(err error) metav1.Condition {
	condition := status.InternalErrorCondition(infrav1.ReadyCondition, err)
	condition.Status = metav1.ConditionFalse
	return condition
}

// writeChanges writes the changes of the reconciliation. It returns err, or else the error of the write. A reconciliation that failed or is
// incomplete does not record the observed generation.
func (p *reconciliation[O, I]) writeChanges(ctx context.Context, err error) error {
	ctx, span := tracing.StartStage(ctx, "store")
	if err == nil {
		write := p.changes.Finish
		if p.incomplete {
			write = p.changes.Write
		}
		err = write(ctx)
		endStage(span, err)
		return err
	}
	failure := p.changes.Write(ctx)
	endStage(span, failure)
	p.failureShown = failure == nil || p.recordLostStatus(ctx, failure)
	return err
}

// showFailure writes the error that ended the reconciliation into the conditions of the stored object. It drops all other changes,
// since these may be the ones that the API server refuses.
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
	p.changes = patch.TrackChanges(p.Client, p.object)
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

// recordLostStatus logs and counts a status that could not be written, and reports whether err is such an error. Conflicts are not
// logged, because the status is written again, and neither is an object that is gone.
func (p *reconciliation[O, I]) recordLostStatus(ctx context.Context, err error) bool {
	if !p.isStatusError(err) {
		return false
	}
	if eventlog.IsFailure(ctx, err) && !apierrors.IsNotFound(err) {
		ctrl.LoggerFrom(ctx).Error(err, "the status cannot be written, so the object does not show the result")
		p.Work.CountFailedStatusWrite(p.declaration.Name)
	}
	return true
}

// isStatusError reports whether err is a failed write of the object's own status.
func (p *reconciliation[O, I]) isStatusError(err error) bool {
	var status *patch.StatusError
	return errors.As(err, &status) && status.IsOf(p.object)
}
