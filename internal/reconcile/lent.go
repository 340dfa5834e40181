package reconcile

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
)

// restrict has the plan of an object with a lent identity do only what the identity is lent for. A plan of an object that has
// nothing in Azure is refused as a whole. Of others only the writes are refused that would give something: what exists stays.
func (a *azure[O, I]) restrict(ctx context.Context, g *arm.Graph) error {
	denials, err := a.denials(ctx, g)
	if err != nil {
		return Unread(err)
	}
	if len(denials) == 0 || !a.nothingMade() {
		return nil
	}
	var errs field.ErrorList
	for _, denial := range denials {
		errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: denial.Field, Detail: denial.Message})
	}
	return Refused(errs)
}

// nothingMade tells whether nothing of the object can be in Azure. A machine or pool says so even when its Cluster has something there: a
// plan is stored before it is carried out, and whoever made it otherwise has written a provider ID.
func (a *azure[O, I]) nothingMade() bool {
	if a.kind.Untouched(a.in) {
		return true
	}
	spec, _ := specfield.Of(a.object).Decoded().(map[string]any)
	annotations := a.object.GetAnnotations()
	return a.declared.Users == nil && !a.subject.Made && spec["providerID"] == nil && spec["providerIDList"] == nil &&
		!memory.Stored(annotations) && annotations[infrav1.InventoryAnnotation] == ""
}

// denials restricts a graph and returns what it denies.
func (a *azure[O, I]) denials(ctx context.Context, g *arm.Graph) ([]arm.Denial, error) {
	grants := a.turn.Access.Lent
	if grants == nil {
		return nil, nil
	}
	in := lent.Input{Grants: *grants, Owner: a.ownership(), Facts: map[string]lent.Fact{}, Field: a.fieldNaming}
	for missing := lent.Missing(g, in); len(missing) > 0; missing = lent.Missing(g, in) {
		for _, id := range missing {
			fact, err := a.look(ctx, id)
			if err != nil {
				return nil, err
			}
			in.Facts[id.Key()] = fact
		}
	}
	return lent.Restrict(g, in), nil
}

// ownership is whose the resources of the Cluster are.
func (a *azure[O, I]) ownership() ownership.Owner {
	out := ownership.Owner{Cluster: a.subject.Cluster.Name}
	if a.subject.Owner != nil {
		out.ID = ownership.Value(a.subject.Owner, out.Cluster)
	}
	return out
}

// look reads whose a resource is. A resource that Azure does not show to the identity is unreadable.
func (a *azure[O, I]) look(ctx context.Context, id arm.ID) (lent.Fact, error) {
	shown, err := a.Facts.ReadResource(ctx, a.turn.Access.Client, id)
	var refused *arm.Error
	switch {
	case errors.As(err, &refused) && refused.Status >= 400 && !arm.IsUnanswered(err):
		return lent.Fact{Unreadable: true}, nil
	case err != nil:
		return lent.Fact{}, err
	case len(shown) == 0:
		return lent.Fact{}, nil
	}
	var body struct {
		Tags map[string]string `json:"tags"`
	}
	if json.Unmarshal(shown, &body) != nil {
		return lent.Fact{Unreadable: true}, nil
	}
	return lent.Fact{Exists: true, Tags: body.Tags}, nil
}

// fieldNaming returns the field of the object, or of the one that its Cluster's resources are planned from, that names an ID.
func (a *azure[O, I]) fieldNaming(id arm.ID) string {
	return a.fieldOf(func(spec specfield.Spec) string { return spec.Naming(id) })
}

// fieldOf returns the field that is found in the spec of the object, or else in that of the one that its Cluster's resources are planned
// from.
func (a *azure[O, I]) fieldOf(find func(specfield.Spec) string) string {
	if found := find(specfield.Of(a.object)); found != "" {
		return found
	}
	owner := a.subject.Owner
	if owner == nil || owner.GetUID() == a.object.GetUID() {
		return ""
	}
	found := find(specfield.Of(owner))
	gvk, err := a.Client.GroupVersionKindFor(owner)
	if err != nil || found == "" {
		return ""
	}
	return gvk.Kind + " " + owner.GetName() + ": " + found
}

// do sends an action unless the identity is not lent for what its body has.
func (a *azure[O, I]) do(ctx context.Context, action engine.Action) arm.Result {
	g := &arm.Graph{}
	g.Add(arm.Node{ID: action.ID, Body: action.Body, Policy: arm.Repair})
	denials, err := a.denials(ctx, g)
	if err == nil && len(denials) > 0 {
		err = arm.Refusal(denials[0].Field + ": " + denials[0].Message)
	}
	if err == nil && g.Nodes()[0].Blocked != "" {
		err = arm.Refusal(g.Nodes()[0].Blocked)
	}
	if err != nil {
		return arm.Result{ID: action.ID, State: arm.Failed, Err: err}
	}
	action.Object, action.RetryNow = a.turn.Name, lifecycle.Requested(a.object)
	return a.Engine.RunAction(ctx, a.turn.Access.Client, action, a.turn.Wake)
}
