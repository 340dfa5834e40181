package reconcile

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lending"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
)

// restrictLentIdentity limits the plan of an object with a lent identity to the resources that the identity's owner allows. If the
// object has nothing in Azure yet, the whole plan is refused. Otherwise only the writes that exceed the grants are refused, and
// existing resources stay.
func (a *azureReconciliation[O, I]) restrictLentIdentity(ctx context.Context, g *arm.Graph) error {
	denials, err := a.restrictGraph(ctx, g)
	if err != nil {
		return ReadFailed(err)
	}
	if len(denials) == 0 || !a.nothingCreated() {
		return nil
	}
	var errs field.ErrorList
	for _, denial := range denials {
		errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: denial.Field, Detail: denial.Message})
	}
	return RefuseSpec(errs)
}

// nothingCreated reports whether the object has nothing in Azure. For a machine or pool this can be true although its Cluster has
// resources: a plan is stored before it is carried out, and a migrated object has a provider ID.
func (a *azureReconciliation[O, I]) nothingCreated() bool {
	if a.describeResources().NothingCreated {
		return true
	}
	spec, _ := specfield.DecodeSpec(a.object).Decoded().(map[string]any)
	return a.declaration.IdentityUsers == nil && !a.target.WasProvisioned && spec["providerID"] == nil && spec["providerIDList"] == nil &&
		!applied.IsStored(a.object.GetAnnotations())
}

// restrictGraph restricts a graph to the grants of a lent identity and returns the denials.
func (a *azureReconciliation[O, I]) restrictGraph(ctx context.Context, g *arm.Graph) ([]arm.Denial, error) {
	grants := a.session.Access.LentGrants
	if grants == nil {
		return nil, nil
	}
	return lending.RestrictGraph(ctx, a.Facts, a.session.Caller(), lent.Input{Grants: *grants, Owner: a.clusterOwner(), Field: a.findFieldNaming}, g)
}

// clusterOwner returns the owner of the Cluster's resources.
func (a *azureReconciliation[O, I]) clusterOwner() ownership.Owner {
	if a.target.Owner == nil {
		return ownership.Owner{Cluster: a.target.Cluster.Name}
	}
	return ownership.OwnerOf(a.target.Owner, a.target.Cluster.Name)
}

// findFieldNaming returns the field that names an ID, in the object or in the owner of its Cluster's resources.
func (a *azureReconciliation[O, I]) findFieldNaming(id arm.ID) string {
	return a.findField(func(spec specfield.Spec) string { return spec.FieldNaming(id) })
}

// maxSearches is how often a reconciliation searches the specs for a field. A search of a megabyte takes a tenth of a second, a plan can have
// thousands of faults, and conditions show fewer than these.
const maxSearches = 20

// findField returns the field that find finds in the spec of the object, or else in the spec of the owner of its Cluster's resources. It returns
// "" after maxSearches.
func (a *azureReconciliation[O, I]) findField(find func(specfield.Spec) string) string {
	if a.searches++; a.searches > maxSearches {
		return ""
	}
	if found := find(specfield.DecodeSpec(a.object)); found != "" {
		return found
	}
	owner := a.target.Owner
	if owner == nil || owner.GetUID() == a.object.GetUID() {
		return ""
	}
	found := find(specfield.DecodeSpec(owner))
	gvk, err := a.Client.GroupVersionKindFor(owner)
	if err != nil || found == "" {
		return ""
	}
	return gvk.Kind + " " + owner.GetName() + ": " + found
}

// runAction sends an action. It refuses actions on resources that the object only observes or that another owner has, and actions whose body
// exceeds the grants of a lent identity.
func (a *azureReconciliation[O, I]) runAction(ctx context.Context, action engine.Action) arm.Result {
	if planned, ok := a.outcome.Result(action.ID); ok && !planned.Managed {
		return arm.Result{ID: action.ID, State: arm.Failed, Err: arm.Refusal(action.ID.ShortName() + " is not managed by the object, so nothing is sent to it")}
	}
	g := &arm.Graph{}
	g.Add(arm.Node{ID: action.ID, Body: action.Body, Policy: arm.Repair})
	denials, err := a.restrictGraph(ctx, g)
	if err == nil && len(denials) > 0 {
		err = arm.Refusal(denials[0].Field + ": " + denials[0].Message)
	}
	if err == nil && g.Nodes()[0].Blocked != "" {
		err = arm.Refusal(g.Nodes()[0].Blocked)
	}
	if err != nil {
		return arm.Result{ID: action.ID, State: arm.Failed, Err: err}
	}
	if a.observing.isOn() {
		return a.intendAction(action)
	}
	action.Object, action.RetryNow = a.session.Name, lifecycle.IsReconcileRequested(a.object)
	return a.Engine.RunAction(ctx, a.session.Access.Client, action, a.session.Wake)
}
