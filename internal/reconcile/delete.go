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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// delete takes what is the object's out of Azure, and then lets the object go.
func (a *azure[O, I]) delete(ctx context.Context) (outcome, time.Duration, error) {
	if !controllerutil.ContainsFinalizer(a.object, a.declared.Finalizer) {
		a.dropFinalizers()
		return nothing, 0, nil
	}
	a.settled.Forget(a.key)
	left := a.kind.Deleting(ctx, a.in)
	if deletion.NothingLeft(a.object) {
		return "", 0, LetGo()
	}
	if left != nil {
		return "", 0, left
	}
	if err := a.open(ctx); err != nil {
		if identity.CodeOf(err) != "" && a.kind.Untouched(a.in) {
			// Nobody could ever ask Azure for anything, so there is nothing to wait for an identity for.
			return "", 0, LetGo()
		}
		return "", 0, Unread(err)
	}
	planned, err := a.kind.PlanDeletion(ctx, a.turn, a.in)
	if err != nil {
		return "", 0, a.unlessNowhere(err, err)
	}
	return a.deleteInAzure(ctx, planned)
}

// deleteInAzure deletes one by one, unless something else is deleted that takes everything with it: asking for each resource
// would only be slower.
func (a *azure[O, I]) deleteInAzure(ctx context.Context, planned *Plan) (outcome, time.Duration, error) {
	request := a.request(planned)
	if planned.Warning != "" {
		a.story.LeftBehind(planned.Warning)
	}
	goes := false
	if planned.GoesWith != "" {
		var err error
		if goes, err = a.Engine.DeletesGroupWhole(ctx, request, planned.GoesWith); err != nil {
			return "", 0, a.unlessNowhere(err, Unread(err))
		}
	}
	if !goes {
		outcome, err := a.Engine.Delete(ctx, request)
		if err != nil {
			return "", 0, fmt.Errorf("delete: %w", err)
		}
		for _, cause := range outcome.RootCauses() {
			if err := a.unlessNowhere(cause.Err, nil); err != nil {
				return "", 0, err
			}
		}
		a.story.Saw(outcome)
		a.enlist(outcome)
		a.kind.ReportDeletion(a.in, outcome)
		if !outcome.IsDeleted() {
			a.held().Explain(a.object, outcome, a.declared.Alike...)
			return underWay, outcome.RetryAfter, nil
		}
		a.tellLeft(planned.Graph, outcome)
		if planned.LeftBehind != "" {
			a.story.LeftBehind(planned.LeftBehind)
		}
	}
	if planned.Gone != nil {
		planned.Gone()
	}
	return "", 0, LetGo()
}

// tellLeft tells in an event what stays in Azure with a name that only resources of the object have: a resource that was made and lost its
// tag before it was ever seen cannot be told from one that somebody else has made.
func (a *azure[O, I]) tellLeft(planned *arm.Graph, outcome arm.Outcome) {
	var ids []string
	for _, result := range outcome.Results {
		node := planned.Node(result.ID)
		if result.PossiblyOwned && node != nil && node.Foreign == arm.RefuseForeign {
			ids = append(ids, arm.ShellQuote(string(result.ID)))
		}
	}
	if len(ids) > 0 {
		owner := a.owner()
		a.story.LeftBehind(fmt.Sprintf("Azure has resources with names of this object that the tag %s=%s does not mark as its own, so they were not deleted. "+
			"If they were made for it, run: az resource delete --ids %s", owner.TagKey, owner.TagValue, strings.Join(ids, " ")))
	}
}

// unlessNowhere is otherwise, but lets an object go of which nothing was ever made when nobody could look for anything: Azure does not know
// the subscription, or Microsoft Entra ID the credential. Somebody would have to correct them only for the object to go.
func (a *azure[O, I]) unlessNowhere(err, otherwise error) error {
	if err == nil || !a.kind.Untouched(a.in) {
		return otherwise
	}
	switch status.Reason(arm.Result{State: arm.Failed, Err: err}) {
	case infrav1.SubscriptionNotFoundReason, infrav1.CredentialsInvalidReason:
		return LetGo()
	}
	return otherwise
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

// heldUp is what a person has to know who wants the object to go.
func (a *azure[O, I]) heldUp() deletion.Held {
	held := a.kind.Held(a.in, a.Access.Subscription(a.subject.Identity.SubscriptionID))
	held.Object, held.Kind, held.Finalizers = a.object, a.declared.Name, a.finalizers()
	held.Subscription = a.Access.Subscription(a.subject.Identity.SubscriptionID)
	owner := a.owner()
	if held.TagKey, held.TagValue = owner.IDKey, owner.ID; owner.ID == "" {
		held.TagKey, held.TagValue = owner.TagKey, owner.TagValue
	}
	if held.Child == "" {
		for _, id := range memory.Made(a.object.GetAnnotations()) {
			held.Names = append(held.Names, id.Name())
		}
	}
	return held
}
