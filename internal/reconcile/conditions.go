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

// applyStopReason runs the reconciliation and turns a stopReason into conditions. A returned error is a failure of the manager itself.
func (p *reconciliation[O, I]) applyStopReason(ctx context.Context) (resultKind, time.Duration, error) {
	for _, conditionType := range p.declaration.ObsoleteConditions {
		conditions.Delete(p.object, conditionType)
	}
	ended, after, err := p.reconcileObject(ctx, p)
	v := stopReasonOf(err)
	if v == nil {
		return ended, after, err
	}
	if v.cause != nil && ctx.Err() != nil {
		// The manager is shutting down. Reads that failed because of it are no information about the object.
		return v.result, 0, ctx.Err()
	}
	p.incomplete = v.incomplete
	switch v.result {
	case resultRefused:
		p.setPrimaryCondition(status.RefusalCondition(p.declaration.PrimaryCondition, v.fieldErrors))
		return v.result, status.RefusalRetryInterval, nil
	case resultUnread:
		return v.result, p.reportReadError(v), nil
	case resultWaiting:
		if p.isDeleting() {
			deletion.ReplaceConditions(p.object, v.condition, p.declaration.PrimaryCondition)
		} else {
			p.setPrimaryCondition(v.condition)
		}
	case resultAgain:
		if v.cause != nil {
			p.recording.AddError(v.cause)
		}
	case resultAbandoned:
		azure := v.azureResources
		if cluster := p.target.Cluster; cluster != nil {
			azure += ". To list all of the Cluster's resources, run: az resource list --tag " + arm.ShellQuote(infrav1.ClusterTagKey(cluster.Name)+"="+infrav1.TagOwned) + " --query \"[].id\" --output tsv"
		}
		deletion.RecordAbandoned(ctx, p.eventRecorder, p.object, v.abandonCause, azure)
		return v.result, 0, p.finishDeletion(ctx)
	case resultDeleted:
		if v.keptResources != "" {
			p.recording.AddLeftBehind(v.keptResources)
		}
		return v.result, 0, p.finishDeletion(ctx)
	}
	if v.retryAfter == UntilResync {
		return v.result, p.Resync, nil
	}
	// No object waits longer than one in order.
	return v.result, min(v.retryAfter, p.Resync), nil
}

// setPrimaryCondition sets the PrimaryCondition, and updates Ready to match.
func (p *reconciliation[O, I]) setPrimaryCondition(condition metav1.Condition) {
	condition.Type = p.declaration.PrimaryCondition
	conditions.Set(p.object, condition)
	if len(p.declaration.SummarizedConditions) > 0 {
		SummarizeReady(p.object, p.declaration.SummarizedConditions)
		return
	}
	condition.Type = infrav1.ReadyCondition
	conditions.Set(p.object, condition)
}

// reportReadError shows why a read failed and returns when to retry. For an object that is being deleted it adds the ways out.
func (p *reconciliation[O, I]) reportReadError(v *stopReason) time.Duration {
	p.recording.AddError(v.cause)
	if p.isDeleting() && p.deletionBlocker != nil {
		condition, after := status.ProblemCondition(infrav1.ReadyCondition, v.cause)
		p.deletionBlocker().ReportStuck(p.object, condition, v.cause, p.declaration.PrimaryCondition)
		return after
	}
	conditionType := v.conditionType
	if conditionType == "" {
		conditionType = p.declaration.PrimaryCondition
	}
	if len(p.declaration.SummarizedConditions) == 0 {
		return status.SetReadError(p.object, v.cause, conditionType, infrav1.ReadyCondition)
	}
	after := status.SetReadError(p.object, v.cause, conditionType)
	SummarizeReady(p.object, p.declaration.SummarizedConditions)
	return after
}

// SummarizeReady sets Ready to the summary of those conditions of the given types that the object has.
func SummarizeReady(object Object, types []string) {
	var all []metav1.Condition
	for _, condition := range object.GetConditions() {
		if slices.Contains(types, condition.Type) {
			all = append(all, condition)
		}
	}
	slices.SortStableFunc(all, func(a, b metav1.Condition) int {
		return slices.Index(types, a.Type) - slices.Index(types, b.Type)
	})
	status.SetCondition(object, status.SummaryCondition(infrav1.ReadyCondition, all))
}
