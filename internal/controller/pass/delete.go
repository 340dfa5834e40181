package pass

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// delete takes what is the object's out of Azure, and then lets the object go.
func (p *pass[O, I]) delete(ctx context.Context) (outcome, time.Duration, error) {
	if !controllerutil.ContainsFinalizer(p.object, p.declared.Finalizer) {
		p.dropFinalizers()
		return nothing, 0, nil
	}
	p.settled.Forget(p.key)
	left := p.kind.Deleting(ctx, p.in)
	if deletion.NothingLeft(p.object) {
		return "", 0, LetGo()
	}
	if left != nil {
		return "", 0, left
	}
	if err := p.open(ctx); err != nil {
		if identity.CodeOf(err) != "" && p.kind.Untouched(p.in) {
			// Nobody could ever ask Azure for anything, so there is nothing to wait for an identity for.
			return "", 0, LetGo()
		}
		return "", 0, Unread(err)
	}
	planned, err := p.kind.PlanDeletion(ctx, p.turn, p.in)
	if err != nil {
		return "", 0, err
	}
	return p.deleteInAzure(ctx, planned)
}

// deleteInAzure deletes one by one, unless something else is deleted that takes everything with it: asking for each resource
// would only be slower.
func (p *pass[O, I]) deleteInAzure(ctx context.Context, planned *Plan) (outcome, time.Duration, error) {
	request := p.request(planned)
	goes := false
	if planned.GoesWith != "" {
		var err error
		if goes, err = p.Engine.DeletableWhole(ctx, request, planned.GoesWith); err != nil {
			return "", 0, Unread(err)
		}
	}
	if !goes {
		outcome, err := p.Engine.Delete(ctx, request)
		if err != nil {
			return "", 0, fmt.Errorf("delete: %w", err)
		}
		p.story.Saw(outcome)
		inventory.Set(p.object, slices.DeleteFunc(outcome.Inventory, func(id arm.ID) bool { return slices.ContainsFunc(planned.Also, id.Equal) }))
		p.kind.ReportDeletion(p.in, outcome)
		if !outcome.Deleted() {
			p.held().Explain(p.object, outcome, p.declared.Alike...)
			return underWay, outcome.RetryAfter, nil
		}
	}
	if planned.Gone != nil {
		planned.Gone()
	}
	return "", 0, LetGo()
}

// letGo releases the identity and then the object.
func (p *pass[O, I]) letGo(ctx context.Context) error {
	if p.declared.Users != nil {
		if err := deletion.End(ctx, p.changes, p.object, func() error { return p.Access.Release(ctx, p.declared.Finalizer, p.key) }); err != nil {
			return err
		}
	}
	p.dropFinalizers()
	return nil
}

func (p *pass[O, I]) dropFinalizers() {
	for _, finalizer := range p.finalizers() {
		controllerutil.RemoveFinalizer(p.object, finalizer)
	}
}

func (p *pass[O, I]) finalizers() []string {
	return append([]string{p.declared.Finalizer}, p.declared.Former...)
}

// held is what a person has to know who wants the object to go.
func (p *pass[O, I]) held() deletion.Held {
	held := p.kind.Held(p.in, p.Access.Subscription(p.subject.Identity.SubscriptionID))
	held.Object, held.Kind, held.Finalizers = p.object, p.declared.Name, p.finalizers()
	return held
}
