package reconcile

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/misread"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
)

// azureReconciliation is the reconciliation of an object that has resources in Azure.
type azureReconciliation[O Object, I any] struct {
	*reconciliation[O, I]
	kind    Kind[O, I]
	session Session
}

// reconcile runs the stages after enter. It returns when the next reconciliation is due; 0 means that an event wakes the object.
func (a *azureReconciliation[O, I]) reconcile(ctx context.Context) (resultKind, time.Duration, error) {
	if a.isDeleting() {
		return a.deleteResources(ctx)
	}
	if why := a.target.WaitCondition; why != nil {
		return "", 0, WaitFor(*why)
	}
	if err := a.openAccess(ctx); err != nil {
		return "", 0, ReadFailed(err)
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
	identified := a.ensureOwnerID()
	if err := a.kind.LoadPlanInput(ctx, a.session, a.in); err != nil {
		return "", 0, err
	}
	fingerprint, err := a.computeFingerprint()
	if err != nil {
		return "", 0, err
	}
	if left := a.stability.TimeUntilDue(a.object, fingerprint); left > 0 {
		if kind, ok := a.kind.(OwnerReferenceRenewer[I]); ok {
			if err := kind.RenewOwnerReferences(ctx, a.in); err != nil {
				return "", 0, err
			}
		}
		return resultQuiet, left, nil
	}
	a.session.Read, a.session.fingerprint = a.chooseReadOptions(fingerprint), fingerprint
	a.session.Migration = applied.ReadDifferences(a.object.GetAnnotations())
	a.forgetRefused()
	planned, err := a.kind.Plan(ctx, a.session, a.in)
	if err != nil {
		return "", 0, err
	}
	planned.Graph.SealBodies()
	if err := a.refuseForgedTags(planned.Graph); err != nil {
		return "", 0, err
	}
	if err := a.restrictLentIdentity(ctx, planned.Graph); err != nil {
		return "", 0, err
	}
	planned.LastApplied = planned.LastApplied.ForFinalPlan(planned.Graph)
	if annotation.Set(a.object, planned.LastApplied.AnnotationsBefore(planned.Graph)) || identified {
		if err := a.changes.Write(ctx); err != nil {
			return "", 0, fmt.Errorf("record the plan: %w", err)
		}
	}
	request := a.engineRequest(planned)
	request.IgnoreDifference = a.session.Migration.KeepsDifference
	outcome, err := a.Engine.Converge(ctx, request)
	if err != nil {
		return "", 0, fmt.Errorf("converge: %w", err)
	}
	a.recording.AddOutcome(outcome)
	a.storeInventory(outcome)
	annotation.Set(a.object, map[string]string{infrav1.TakenOverAnnotation: a.session.Migration.AnnotationValue(outcome)})
	holds, err := a.kind.Report(ctx, a.session, a.in, outcome)
	if err != nil && stopReasonOf(err) == nil {
		return "", 0, err
	}
	annotation.Set(a.object, planned.LastApplied.AnnotationsAfter(planned.Graph, outcome))
	if v := stopReasonOf(err); v != nil && (v.result != resultAgain || outcome.IsDone()) {
		return "", 0, err
	} else if v != nil && v.cause != nil {
		a.recording.AddError(v.cause)
	}
	// The status that this reconciliation writes is not part of the fingerprint. The spec fields and annotations that it writes are.
	learned, err := a.computeFingerprint()
	if err != nil {
		return "", 0, err
	}
	if !outcome.IsDone() {
		a.stability.ReplaceFingerprint(a.key, fingerprint, learned)
		return resultProgressing, outcome.RetryAfter, nil
	}
	if holds == 0 {
		holds = a.Resync
	}
	return resultSettled, a.stability.MarkStable(a.key, a.clusterKey(), learned, holds), nil
}

// chooseReadOptions returns how Azure may be read, by what caused the reconciliation.
func (a *azureReconciliation[O, I]) chooseReadOptions(fingerprint stable.Fingerprint) (options engine.ReadOptions) {
	confirmed, requested := stable.IsConfirmedReady(a.object), lifecycle.IsReconcileRequested(a.object)
	if options.Batch = !a.stability.InputChanged(a.key, fingerprint); options.Batch && confirmed && !requested {
		options.MaxAge = engine.SyncMaxAge(a.Resync)
	}
	if !confirmed && !requested {
		options.ReuseSince = a.stability.ConvergingSince(a.key, fingerprint)
	}
	return options
}

// clusterKey returns the key that decides when the object is due: objects of one Cluster are due together.
func (a *azureReconciliation[O, I]) clusterKey() client.ObjectKey {
	if a.target.Cluster == nil {
		return a.key
	}
	return client.ObjectKeyFromObject(a.target.Cluster)
}

// checkBounds refuses to plan from objects that exceed the limits of their schemas, or whose names would change the meaning of a
// resource ID. A deletion only uses names, so such an object can still be deleted.
func (a *azureReconciliation[O, I]) checkBounds() error {
	if errs := append(maxima.FindExceeded(a.declaration.Name, a.object), misread.CheckSpec(specfield.DecodeSpec(a.object).Decoded())...); len(errs) > 0 {
		return RefuseSpec(errs)
	}
	owner := a.target.Owner
	if owner == nil {
		return nil
	}
	gvk, err := a.Client.GroupVersionKindFor(owner)
	if err != nil || gvk.Kind == a.declaration.Name {
		return err
	}
	if errs := checkOwnerBounds(gvk.Kind, owner); len(errs) > 0 {
		return RefuseSpec(errs)
	}
	return nil
}

// checkOwnerBounds returns the violations of another object, with its kind and name in front of each field: the fields are not those of
// the object that shows the error.
func checkOwnerBounds(kind string, owner client.Object) field.ErrorList {
	errs := append(maxima.FindExceeded(kind, owner), misread.CheckSpec(specfield.DecodeSpec(owner).Decoded())...)
	for _, err := range errs {
		err.Field = kind + " " + owner.GetName() + ": " + err.Field
	}
	return errs
}

// computeFingerprint hashes all input of the plan except facts.
func (a *azureReconciliation[O, I]) computeFingerprint() (stable.Fingerprint, error) {
	return stable.ComputeFingerprint(append(a.kind.FingerprintInputs(a.in), a.object.GetAnnotations(), a.session.Access.Key, a.session.Access.LentGrants)...)
}

// openAccess gives the reconciliation access to Azure.
func (a *azureReconciliation[O, I]) openAccess(ctx context.Context) error {
	opened, err := a.Access.Open(ctx, a.target.Identity)
	if err != nil {
		return err
	}
	a.session = Session{Name: a.declaration.Name + "/" + a.key.String(), Access: opened, Wake: a.wake.WakeFunc(a.key), Store: a.storeChanges, RunAction: a.runAction}
	return nil
}

// addIdentityFinalizer keeps the AzureClusterIdentity from being deleted before the object.
func (a *azureReconciliation[O, I]) addIdentityFinalizer(ctx context.Context) error {
	if a.declaration.IdentityUsers == nil {
		return nil
	}
	err := a.Access.AddFinalizer(ctx, a.session.Access, a.declaration.Finalizer, a.object)
	if identity.CodeOf(err) != "" {
		return ReadFailed(err)
	}
	if err != nil {
		return fmt.Errorf("add the finalizer to the identity: %w", err)
	}
	return nil
}

// engineRequest builds the request to the engine.
func (a *azureReconciliation[O, I]) engineRequest(planned *Plan) engine.Request {
	list := a.readInventory(planned.Graph)
	return engine.Request{
		Object:            a.session.Name,
		Client:            a.session.Access.Client,
		Owner:             a.engineOwner(),
		Graph:             planned.Graph,
		Read:              a.session.Read,
		Prune:             planned.LastApplied.ListPruned(planned.Graph),
		Inventory:         list.Created,
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
