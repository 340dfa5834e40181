package reconcile

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// azureReconciliation is the reconciliation of an object that has resources in Azure.
type azureReconciliation[O Object, I any] struct {
	*reconciliation[O, I]
	kind    Kind[O, I]
	input   Input
	session Session
	// observing is the mode without writes to Azure.
	observing observing
	// outcome is that of the convergence, empty before it.
	outcome arm.Outcome
	// searches counts the calls of findField.
	searches int
}

// reconcile runs the stages after enter. It returns when the next reconciliation is due; 0 means that an event wakes the object.
func (a *azureReconciliation[O, I]) reconcile(ctx context.Context) (resultKind, time.Duration, error) {
	if err := a.readObserving(ctx); err != nil {
		return "", 0, err
	}
	ended, after, err := a.runStages(ctx)
	a.reportObserving(ended, err)
	a.reportPower()
	return ended, after, err
}

func (a *azureReconciliation[O, I]) runStages(ctx context.Context) (resultKind, time.Duration, error) {
	if a.isDeleting() {
		return a.deleteResources(ctx)
	}
	if why := a.target.WaitCondition; why != nil {
		return "", 0, WaitFor(*why)
	}
	if err := a.openAccess(ctx); err != nil {
		return "", 0, ReadFailed(err)
	}
	if err := a.checkSubscription(); err != nil {
		return "", 0, err
	}
	if err := a.addIdentityFinalizer(ctx); err != nil {
		return "", 0, err
	}
	return a.converge(ctx)
}

// converge brings Azure one step closer to the spec.
func (a *azureReconciliation[O, I]) converge(ctx context.Context) (resultKind, time.Duration, error) {
	if err := a.checkBounds(); err != nil {
		return "", 0, err
	}
	if err := a.readPower(); err != nil {
		return "", 0, err
	}
	identified := a.ensureOwnerID()
	fingerprint, err := a.loadPlanInput(ctx)
	if err != nil {
		return "", 0, err
	}
	if left := a.stability.TimeUntilDue(a.object, fingerprint); left > 0 {
		return resultQuiet, left, a.renewOwnerReferences(ctx)
	}
	a.session.Read, a.session.fingerprint = a.chooseReadOptions(fingerprint), fingerprint
	planned, err := a.plan(ctx)
	if err != nil {
		return "", 0, err
	}
	if err := a.recordPlan(ctx, planned, identified); err != nil {
		return "", 0, err
	}
	outcome, err := a.convergeResources(ctx, planned)
	if err != nil {
		return "", 0, err
	}
	validFor, err := a.actAndReport(ctx, planned, outcome)
	if err != nil {
		return "", 0, err
	}
	return a.scheduleNext(outcome, fingerprint, validFor)
}

// loadPlanInput reads the input of the plan from Kubernetes, and returns its fingerprint.
func (a *azureReconciliation[O, I]) loadPlanInput(ctx context.Context) (stable.Fingerprint, error) {
	ctx, span := tracing.StartStage(ctx, "load plan input")
	defer span.End()
	if err := a.kind.LoadPlanInput(ctx, a.session, a.in); err != nil {
		return stable.Fingerprint{}, err
	}
	return a.computeFingerprint()
}

// chooseReadOptions returns how Azure may be read, by what caused the reconciliation.
func (a *azureReconciliation[O, I]) chooseReadOptions(fingerprint stable.Fingerprint) (options engine.ReadOptions) {
	inOrder, requested := a.stability.WasInOrder(a.object, fingerprint), lifecycle.IsReconcileRequested(a.object)
	if options.Batch = !a.stability.InputChanged(a.key, fingerprint); options.Batch && inOrder && !requested {
		options.MaxAge = engine.SyncMaxAge(a.Resync)
	}
	if !inOrder && !requested {
		options.ReuseSince = a.stability.ConvergingSince(a.key, fingerprint)
	}
	return options
}

// plan computes the plan, and refuses the writes that the object may not make.
func (a *azureReconciliation[O, I]) plan(ctx context.Context) (planned *Plan, err error) {
	ctx, span := tracing.StartStage(ctx, "plan")
	defer func() { endStage(span, err) }()
	a.session.Migration = applied.ReadDifferences(a.object.GetAnnotations())
	a.forgetRefused()
	if planned, err = a.kind.Plan(ctx, a.session, a.in); err != nil {
		return nil, err
	}
	if planned.Ignored != "" {
		a.recording.AddIgnored(planned.Ignored)
	}
	planned.Graph.SealBodies()
	if err := a.refuseForgedTags(planned.Graph); err != nil {
		return nil, err
	}
	if err := a.restrictLentIdentity(ctx, planned.Graph); err != nil {
		return nil, err
	}
	planned.LastApplied = planned.LastApplied.ForFinalPlan(planned.Graph)
	return planned, nil
}

// recordPlan stores in lastApplied which resources have to be removed later, before they are created. identified is set if the object
// has just got its owner ID, which is stored with it.
func (a *azureReconciliation[O, I]) recordPlan(ctx context.Context, planned *Plan, identified bool) error {
	// Of an observed object nothing is recorded, because nothing is sent.
	if (a.observing.isOn() || !a.storePathsBefore(planned)) && !identified {
		return nil
	}
	if err := a.changes.WriteWithoutStatus(ctx); err != nil {
		return fmt.Errorf("record the plan: %w", err)
	}
	return nil
}

// convergeResources has the engine start each write that is ready, and records the resources that belong to the object now.
func (a *azureReconciliation[O, I]) convergeResources(ctx context.Context, planned *Plan) (arm.Outcome, error) {
	request := a.engineRequest(planned)
	request.IgnoreDifference, request.Observing = a.session.Migration.KeepsDifference, a.observing.isOn()
	ctx, span := tracing.StartStage(ctx, "converge")
	outcome, err := a.Engine.Converge(ctx, request)
	endStage(span, err)
	if err != nil {
		return arm.Outcome{}, fmt.Errorf("converge: %w", err)
	}
	a.outcome = outcome
	if !outcome.IsDone() {
		a.stability.MarkUnfinished(a.key)
	}
	a.noteReads(outcome)
	a.recording.AddOutcome(outcome)
	a.storeOutcome(outcome)
	a.intendOutcome(outcome)
	return outcome, nil
}

// actAndReport lets the kind act and sets the status. It returns how long the status is valid at most; 0 means until the next sync. A
// kind that wants another check while resources are not in place yet gets it from the engine.
func (a *azureReconciliation[O, I]) actAndReport(ctx context.Context, planned *Plan, outcome arm.Outcome) (time.Duration, error) {
	acting, span := tracing.StartStage(ctx, "act")
	acted := a.kind.Act(acting, a.session, a.in, outcome)
	endStage(span, acted)
	a.observing.known = acted == nil || stopReasonOf(acted) != nil
	validFor, err := a.kind.Report(a.in, outcome)
	if acted != nil {
		validFor, err = 0, acted
	}
	reason := stopReasonOf(err)
	if err != nil && reason == nil {
		return 0, err
	}
	if !a.observing.isOn() {
		a.storePathsAfter(planned, outcome)
	}
	if reason != nil && (reason.result != resultAgain || outcome.IsDone()) {
		return 0, err
	}
	if reason != nil && reason.cause != nil {
		a.recording.AddError(reason.cause)
	}
	return validFor, nil
}

// scheduleNext decides when the object is reconciled again. The status that this reconciliation writes is not part of the fingerprint.
// The spec fields and annotations that it writes are.
func (a *azureReconciliation[O, I]) scheduleNext(outcome arm.Outcome, fingerprint stable.Fingerprint, validFor time.Duration) (resultKind,
	time.Duration, error) {
	learned, err := a.computeFingerprint()
	if err != nil {
		return "", 0, err
	}
	if !outcome.IsDone() {
		a.stability.ReplaceFingerprint(a.key, fingerprint, learned)
		after := outcome.RetryAfter
		if validFor > 0 && (after == 0 || validFor < after) {
			after = validFor
		}
		return resultProgressing, after, nil
	}
	if validFor == 0 {
		validFor = a.Resync
	}
	return resultSettled, a.stability.MarkStable(a.key, a.clusterKey(), learned, validFor), nil
}

// clusterKey returns the key that decides when the object is due: objects of one Cluster are due together.
func (a *azureReconciliation[O, I]) clusterKey() client.ObjectKey {
	if a.target.Cluster == nil {
		return a.key
	}
	return client.ObjectKeyFromObject(a.target.Cluster)
}

// computeFingerprint hashes all input of the plan except facts.
func (a *azureReconciliation[O, I]) computeFingerprint() (stable.Fingerprint, error) {
	return stable.ComputeFingerprint(append(a.input.FingerprintInputs(), a.object.GetAnnotations(), a.session.Access.Key,
		a.session.Access.LentGrants, a.observing.causes, a.session.Power.Request.Stop, a.session.Power.ScaleToZero, a.session.Power.Starting)...)
}

// engineRequest builds the request to the engine.
func (a *azureReconciliation[O, I]) engineRequest(planned *Plan) engine.Request {
	list := a.readInventory()
	return engine.Request{
		Object:            a.session.Name,
		Client:            a.session.Access.Client,
		Owner:             a.engineOwner(),
		Graph:             planned.Graph,
		Read:              a.session.Read,
		Prune:             planned.LastApplied.ListPruned(planned.Graph),
		Inventory:         planned.LastApplied.WithoutReleased(planned.Graph, list.Created),
		IsOthers:          planned.IsOthers,
		IgnoreInventory:   planned.IgnoreInventory,
		Record:            a.recordedResources(),
		Adopted:           list.Adopted,
		DeleteAdopted:     a.object.GetAnnotations()[infrav1.DeleteAdoptedAnnotation] == "true",
		OwnedUntagged:     planned.OwnedUntagged,
		Migrated:          planned.Migrated,
		Wake:              a.session.Wake,
		Superseded:        planned.Superseded,
		RetryNow:          lifecycle.IsReconcileRequested(a.object),
		DeleteWholeGroups: planned.DeleteWholeGroups,
	}
}

// storeChanges writes the changes made so far.
func (a *azureReconciliation[O, I]) storeChanges(ctx context.Context) error {
	return a.changes.Write(ctx)
}
