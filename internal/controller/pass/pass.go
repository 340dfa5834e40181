package pass

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
)

// pass is one pass over one object.
type pass[O Object, I any] struct {
	*Runner[O, I]
	key     client.ObjectKey
	object  O
	subject Subject
	in      *I
	turn    Turn
	// changes are those of the pass to the object, story what events tell of it.
	changes *patch.Changes
	story   *story.Pass
}

// work is what a pass does once it has been entered. It returns when the next pass is due; 0 is when something wakes the object.
func (p *pass[O, I]) work(ctx context.Context) (outcome, time.Duration, error) {
	for _, conditionType := range p.declared.Dropped {
		conditions.Delete(p.object, conditionType)
	}
	if p.deleting() {
		return p.delete(ctx)
	}
	if why := p.subject.WaitsFor; why != nil {
		return "", 0, &verdict{what: waits, says: falseCondition(why.Reason, why.Message)}
	}
	if err := p.open(ctx); err != nil {
		return "", 0, Unread(err)
	}
	if err := p.hold(ctx); err != nil {
		return "", 0, err
	}
	return p.converge(ctx)
}

// converge brings Azure one step closer to the spec.
func (p *pass[O, I]) converge(ctx context.Context) (outcome, time.Duration, error) {
	if err := p.kind.Prepare(ctx, p.turn, p.in); err != nil {
		return "", 0, err
	}
	fingerprint, err := p.fingerprint()
	if err != nil {
		return "", 0, err
	}
	if left := p.settled.Remaining(p.object, fingerprint); left > 0 {
		return quiet, left, nil
	}
	planned, err := p.kind.Plan(facts.Asking(ctx, p.turn.Name, fingerprint), p.turn, p.in)
	if err != nil {
		return "", 0, err
	}
	if annotation.Set(p.object, planned.Remember) {
		if err := p.changes.Write(ctx); err != nil {
			return "", 0, fmt.Errorf("remember the plan: %w", err)
		}
	}
	request := p.request(planned)
	found := takenover.Of(p.object.GetAnnotations())
	request.Leave = found.Leave
	outcome, err := p.Engine.Converge(ctx, request)
	if err != nil {
		return "", 0, fmt.Errorf("converge: %w", err)
	}
	p.story.Saw(outcome)
	inventory.Set(p.object, outcome.Inventory)
	annotation.Set(p.object, map[string]string{infrav1.TakenOverAnnotation: found.Settled(outcome)})
	holds, err := p.kind.Report(ctx, p.turn, p.in, outcome)
	if err != nil && verdictOf(err) == nil {
		return "", 0, err
	}
	if planned.Learned != nil {
		annotation.Set(p.object, planned.Learned(outcome))
	}
	if v := verdictOf(err); v != nil && (v.what != again || outcome.Done()) {
		return "", 0, err
	} else if v != nil && v.cause != nil {
		p.story.Failed(v.cause)
	}
	if !outcome.Done() {
		return underWay, outcome.RetryAfter, nil
	}
	// The status that this pass writes does not change the fingerprint, what it learned for the spec and the annotations does.
	if fingerprint, err = p.fingerprint(); err != nil {
		return "", 0, err
	}
	if holds == 0 {
		holds = p.Resync
	}
	return settles, p.settled.SettleFor(p.key, fingerprint, holds), nil
}

// fingerprint is of everything that decides what a pass makes.
func (p *pass[O, I]) fingerprint() (settled.Input, error) {
	return settled.Fingerprint(append(p.kind.Inputs(p.in), p.object.GetAnnotations(), p.turn.Access.Key)...)
}

// open gives the pass access to Azure.
func (p *pass[O, I]) open(ctx context.Context) error {
	opened, err := p.Access.Open(ctx, p.subject.Identity)
	if err != nil {
		return err
	}
	p.turn = Turn{Name: p.declared.Name + "/" + p.key.String(), Access: opened, Wake: p.wake.Func(p.key), Store: p.store}
	return nil
}

// hold keeps the identity from going before the object.
func (p *pass[O, I]) hold(ctx context.Context) error {
	if p.declared.Users == nil {
		return nil
	}
	if err := p.Access.Hold(ctx, p.turn.Access, p.declared.Finalizer, p.object); err != nil {
		return fmt.Errorf("hold the identity: %w", err)
	}
	return nil
}

// request is what the engine is asked for.
func (p *pass[O, I]) request(planned *Plan) engine.Request {
	return engine.Request{
		Object:      p.turn.Name,
		Client:      p.turn.Access.Client,
		Owner:       engine.Owner{TagKey: infrav1.ClusterTagKey(p.subject.Cluster.Name), TagValue: infrav1.TagOwned},
		Graph:       planned.Graph,
		Prune:       planned.Prune,
		Inventory:   append(inventory.Of(p.object), planned.Also...),
		Wake:        p.turn.Wake,
		Anew:        lifecycle.Requested(p.object),
		WholeGroups: planned.WholeGroups,
	}
}

// store writes what was said so far.
func (p *pass[O, I]) store(ctx context.Context) error { return p.changes.Write(ctx) }

func (p *pass[O, I]) deleting() bool { return !p.object.GetDeletionTimestamp().IsZero() }
