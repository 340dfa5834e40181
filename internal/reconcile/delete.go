package reconcile

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// deleteResources deletes the object's resources in Azure and then removes the finalizers.
func (a *azureReconciliation[O, I]) deleteResources(ctx context.Context) (resultKind, time.Duration, error) {
	if !controllerutil.ContainsFinalizer(a.object, a.declaration.Finalizer) {
		a.removeFinalizers()
		return resultNothing, 0, nil
	}
	a.stability.Forget(a.key)
	if deletion.IsMoved(a.object) {
		return "", 0, WaitFor(deletion.MovedCondition(a.object, a.declaration.Name, a.allFinalizers()...))
	}
	if a.observing.isOn() && !deletion.NothingLeft(a.object) {
		return "", 0, a.awaitEndOfObserving()
	}
	left := a.kind.BeforeDelete(ctx, a.in)
	if deletion.NothingLeft(a.object) {
		return "", 0, FinishDeletion()
	}
	if left != nil {
		return "", 0, left
	}
	if err := a.openAccess(ctx); err != nil {
		if identity.CodeOf(err) != "" && a.describeResources().NothingCreated {
			// No identity ever worked for this object, so nothing was created and the deletion need not wait for one.
			return "", 0, FinishDeletion()
		}
		return "", 0, ReadFailed(err)
	}
	if err := a.checkSubscription(); err != nil {
		return "", 0, err
	}
	planning, span := tracing.StartStage(ctx, "plan")
	planned, err := a.kind.PlanDeletion(planning, a.session, a.in)
	endStage(span, err)
	if err != nil {
		return "", 0, a.unlessNothingCreated(err, err)
	}
	if planned.PrepareDeletion != nil {
		warning, err := planned.PrepareDeletion(ctx)
		if err != nil {
			return "", 0, a.unlessNothingCreated(err, err)
		}
		if warning != "" {
			a.recording.AddLeftBehind(warning)
		}
	}
	return a.deleteInAzure(ctx, planned)
}

// deleteInAzure deletes the resources one by one, unless a resource group that contains all of them is deleted anyway: single deletions
// would only be slower.
func (a *azureReconciliation[O, I]) deleteInAzure(ctx context.Context, planned *Plan) (resultKind, time.Duration, error) {
	request := a.engineRequest(planned)
	goes := false
	if planned.DeletedWithGroup != "" {
		var err error
		if goes, err = a.Engine.DeletesGroupWhole(ctx, request, planned.DeletedWithGroup); err != nil {
			return "", 0, a.unlessNothingCreated(err, ReadFailed(err))
		}
	}
	if !goes {
		deleting, span := tracing.StartStage(ctx, "delete")
		outcome, err := a.Engine.Delete(deleting, request)
		endStage(span, err)
		if err != nil {
			return "", 0, fmt.Errorf("delete: %w", err)
		}
		for _, cause := range outcome.RootCauses() {
			if err := a.unlessNothingCreated(cause.Err, nil); err != nil {
				return "", 0, err
			}
		}
		a.noteReads(outcome)
		a.recording.AddOutcome(outcome)
		a.storeOutcome(outcome)
		_, _ = a.kind.Report(a.in, outcome)
		if !outcome.IsDeleted() {
			a.deletionBlocker().AddWaysOut(a.object, outcome, a.declaration.ReadyAliases...)
			return resultProgressing, outcome.RetryAfter, nil
		}
		a.warnPossiblyLeft(planned.Graph, outcome)
		if planned.FinalWarning != "" {
			a.recording.AddLeftBehind(planned.FinalWarning)
		}
	}
	if planned.OnDeleted != nil {
		planned.OnDeleted()
	}
	return "", 0, FinishDeletion()
}

// warnPossiblyLeft emits an event that lists untagged resources whose names only this object uses. A resource that lost its tag before
// it was first seen cannot be distinguished from one of another creator, so it stays in Azure.
func (a *azureReconciliation[O, I]) warnPossiblyLeft(planned *arm.Graph, outcome arm.Outcome) {
	var ids []string
	for _, result := range outcome.Results {
		node := planned.Node(result.ID)
		if result.PossiblyOwned && node != nil && node.Foreign == arm.RefuseForeign {
			ids = append(ids, arm.ShellQuote(string(result.ID)))
		}
	}
	if len(ids) > 0 {
		owner := a.engineOwner()
		a.recording.AddLeftBehind(fmt.Sprintf("Azure has resources with names of this object that the tag %s=%s does not mark as its own, so they were not deleted. "+
			"If they were created for it, run: az resource delete --ids %s", owner.TagKey, owner.TagValue, strings.Join(ids, " ")))
	}
}

// unlessNothingCreated returns otherwise, except if the object cannot have created anything because Azure does not know the
// subscription or Microsoft Entra ID rejects the credential. Then the deletion ends: correcting them only to delete the object would be
// pointless.
func (a *azureReconciliation[O, I]) unlessNothingCreated(err, otherwise error) error {
	if err == nil || !a.describeResources().NothingCreated {
		return otherwise
	}
	switch status.ResultReason(arm.Result{State: arm.Failed, Err: err}) {
	case infrav1.SubscriptionNotFoundReason, infrav1.CredentialsInvalidReason:
		return FinishDeletion()
	}
	return otherwise
}

// finishDeletion releases the identity and then removes the object's finalizers.
func (p *reconciliation[O, I]) finishDeletion(ctx context.Context) error {
	if p.declaration.IdentityUsers != nil {
		if err := deletion.CompleteDeletion(ctx, p.changes, p.object,
			func() error { return p.Access.RemoveFinalizers(ctx, p.declaration.Finalizer, p.key) }); err != nil {
			return err
		}
	}
	p.removeFinalizers()
	return nil
}

func (p *reconciliation[O, I]) removeFinalizers() {
	for _, finalizer := range p.allFinalizers() {
		controllerutil.RemoveFinalizer(p.object, finalizer)
	}
}

func (p *reconciliation[O, I]) allFinalizers() []string {
	return append([]string{p.declaration.Finalizer}, p.declaration.FormerFinalizers...)
}

// describeResources describes the resources that the object may have created in Azure.
func (a *azureReconciliation[O, I]) describeResources() deletion.Resources {
	return a.kind.DescribeResources(a.in, a.subscription())
}

// subscription returns the subscription of the object's resources; "" if it is not known.
func (a *azureReconciliation[O, I]) subscription() string {
	return a.Access.ResolveSubscription(a.target.Identity.SubscriptionID)
}

// deletionBlocker collects the information for the ways out of a blocked deletion.
func (a *azureReconciliation[O, I]) deletionBlocker() deletion.Blocker {
	blocker := deletion.Blocker{
		Object: a.object, Kind: a.declaration.Name, Finalizers: a.allFinalizers(), Resources: a.describeResources(),
		Subscription: a.subscription(),
	}
	owner := a.engineOwner()
	if blocker.TagKey, blocker.TagValue = owner.IDKey, owner.ID; owner.ID == "" {
		blocker.TagKey, blocker.TagValue = owner.TagKey, owner.TagValue
	}
	if blocker.ChildPath == "" {
		for _, id := range applied.RecordedResources(a.object.GetAnnotations()) {
			blocker.ResourceNames = append(blocker.ResourceNames, id.Name())
		}
	}
	return blocker
}
