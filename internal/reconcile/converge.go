package reconcile

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/misread"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
)

// azure is the pass over an object that has something in Azure.
type azure[O Object, I any] struct {
	*pass[O, I]
	kind Kind[O, I]
	turn Turn
}

// work is the pass once it has been entered. It returns when the next pass is due; 0 is when something wakes the object.
func (a *azure[O, I]) work(ctx context.Context) (outcome, time.Duration, error) {
	if a.deleting() {
		return a.delete(ctx)
	}
	if why := a.subject.WaitsFor; why != nil {
		return "", 0, WaitFor(*why)
	}
	if err := a.open(ctx); err != nil {
		return "", 0, Unread(err)
	}
	if err := a.hold(ctx); err != nil {
		return "", 0, err
	}
	return a.converge(ctx)
}

// converge brings Azure one step closer to the spec.
func (a *azure[O, I]) converge(ctx context.Context) (outcome, time.Duration, error) {
	if err := a.bounded(); err != nil {
		return "", 0, err
	}
	identified := a.identify()
	if err := a.kind.Prepare(ctx, a.turn, a.in); err != nil {
		return "", 0, err
	}
	fingerprint, err := a.fingerprint()
	if err != nil {
		return "", 0, err
	}
	if left := a.settled.Remaining(a.object, fingerprint); left > 0 {
		if kind, ok := a.kind.(Renewing[I]); ok {
			if err := kind.Renew(ctx, a.in); err != nil {
				return "", 0, err
			}
		}
		return quiet, left, nil
	}
	if !a.settled.News(a.key, fingerprint) {
		ctx = engine.WithBatch(ctx)
		if stable.InOrder(a.object) && !lifecycle.Requested(a.object) {
			ctx = engine.WithSyncPeriod(ctx, a.Resync)
		}
	}
	if !stable.InOrder(a.object) && !lifecycle.Requested(a.object) {
		ctx = engine.WithReuseSince(ctx, a.settled.Since(a.key, fingerprint))
	}
	a.turn.Found = takenover.Of(a.object.GetAnnotations())
	ask := facts.WithAsker(ctx, a.turn.Name, fingerprint)
	planned, err := a.kind.Plan(ask, a.turn, a.in)
	if err != nil {
		return "", 0, err
	}
	planned.Graph.SealBodies()
	if err := a.unforged(planned.Graph); err != nil {
		return "", 0, err
	}
	if err := a.restrict(ask, planned.Graph); err != nil {
		return "", 0, err
	}
	planned.Sent = planned.Sent.For(planned.Graph)
	if annotation.Set(a.object, planned.Sent.Remember(planned.Graph)) || identified {
		if err := a.changes.Write(ctx); err != nil {
			return "", 0, fmt.Errorf("remember the plan: %w", err)
		}
	}
	request := a.request(planned)
	request.IgnoreDifference = a.turn.Found.Leave
	outcome, err := a.Engine.Converge(ctx, request)
	if err != nil {
		return "", 0, fmt.Errorf("converge: %w", err)
	}
	a.story.Saw(outcome)
	a.enlist(outcome)
	annotation.Set(a.object, map[string]string{infrav1.TakenOverAnnotation: a.turn.Found.Settled(outcome)})
	holds, err := a.kind.Report(ctx, a.turn, a.in, outcome)
	if err != nil && verdictOf(err) == nil {
		return "", 0, err
	}
	annotation.Set(a.object, planned.Sent.Settled(planned.Graph, outcome))
	if v := verdictOf(err); v != nil && (v.what != again || outcome.IsDone()) {
		return "", 0, err
	} else if v != nil && v.cause != nil {
		a.story.Failed(v.cause)
	}
	// The status that this pass writes does not change the fingerprint, what it learned for the spec and the annotations does.
	learned, err := a.fingerprint()
	if err != nil {
		return "", 0, err
	}
	if !outcome.IsDone() {
		a.settled.Continue(a.key, fingerprint, learned)
		return underWay, outcome.RetryAfter, nil
	}
	if holds == 0 {
		holds = a.Resync
	}
	return settles, a.settled.Settle(a.key, a.clusterKey(), learned, holds), nil
}

// clusterKey names what the object is looked at again with.
func (a *azure[O, I]) clusterKey() client.ObjectKey {
	if a.subject.Cluster == nil {
		return a.key
	}
	return client.ObjectKeyFromObject(a.subject.Cluster)
}

// bounded refuses to plan from objects with more in them than their schemas allow, or with names that lead elsewhere. What is deleted is only named, so such an
// object can go.
func (a *azure[O, I]) bounded() error {
	if errs := append(maxima.Exceeded(a.declared.Name, a.object), misread.Spec(specfield.Of(a.object).Decoded())...); len(errs) > 0 {
		return Refused(errs)
	}
	owner := a.subject.Owner
	if owner == nil {
		return nil
	}
	gvk, err := a.Client.GroupVersionKindFor(owner)
	if err != nil || gvk.Kind == a.declared.Name {
		return err
	}
	if errs := exceededBy(gvk.Kind, owner); len(errs) > 0 {
		return Refused(errs)
	}
	return nil
}

// exceededBy names what in another object is refused for that, with the object: its fields are none of the one that says so.
func exceededBy(kind string, owner client.Object) field.ErrorList {
	errs := append(maxima.Exceeded(kind, owner), misread.Spec(specfield.Of(owner).Decoded())...)
	for _, err := range errs {
		err.Field = kind + " " + owner.GetName() + ": " + err.Field
	}
	return errs
}

// fingerprint is of everything that decides what a pass makes.
func (a *azure[O, I]) fingerprint() (stable.Input, error) {
	return stable.Fingerprint(append(a.kind.Inputs(a.in), a.object.GetAnnotations(), a.turn.Access.Key, a.turn.Access.Lent)...)
}

// open gives the pass access to Azure.
func (a *azure[O, I]) open(ctx context.Context) error {
	opened, err := a.Access.Open(ctx, a.subject.Identity)
	if err != nil {
		return err
	}
	a.turn = Turn{Name: a.declared.Name + "/" + a.key.String(), Access: opened, Wake: a.wake.Func(a.key), Store: a.store, Do: a.do}
	return nil
}

// hold keeps the identity from going before the object.
func (a *azure[O, I]) hold(ctx context.Context) error {
	if a.declared.Users == nil {
		return nil
	}
	err := a.Access.Hold(ctx, a.turn.Access, a.declared.Finalizer, a.object)
	if identity.CodeOf(err) != "" {
		return Unread(err)
	}
	if err != nil {
		return fmt.Errorf("hold the identity: %w", err)
	}
	return nil
}

// request is what the engine is asked for.
func (a *azure[O, I]) request(planned *Plan) engine.Request {
	list := a.inventory(planned.Graph)
	return engine.Request{
		Object:            a.turn.Name,
		Client:            a.turn.Access.Client,
		Owner:             a.owner(),
		Graph:             planned.Graph,
		Prune:             planned.Sent.Prune(planned.Graph),
		Inventory:         list.Made,
		IgnoreInventory:   planned.TagsOnly,
		Record:            a.record(),
		Adopted:           list.Adopted,
		DeleteAdopted:     a.object.GetAnnotations()[infrav1.DeleteAdoptedAnnotation] == "true",
		OwnedUntagged:     planned.Unlabelled,
		Migrated:          planned.Migrated,
		Wake:              a.turn.Wake,
		Superseded:        planned.Outdated,
		RetryNow:          lifecycle.Requested(a.object),
		DeleteWholeGroups: planned.WholeGroups,
	}
}

// store writes what was said so far.
func (a *azure[O, I]) store(ctx context.Context) error { return a.changes.Write(ctx) }
