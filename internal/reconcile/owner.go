package reconcile

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// updateApplied changes the content of the object's annotation, and reports whether that changed the object.
func (a *azureReconciliation[O, I]) updateApplied(change func(*applied.Content)) bool {
	content := applied.Read(a.object.GetAnnotations())
	change(&content)
	return content.Store(a.object)
}

// ensureOwnerID gives an object whose ID marks the Cluster's resources its ID, and reports whether it had none. The ID has to be stored
// before anything is created. It is the object's current UID, so that two managers at work at once, or one that lost its write, choose
// the same ID. After a move the object has another UID and keeps the ID.
func (a *azureReconciliation[O, I]) ensureOwnerID() bool {
	if a.declaration.IdentityUsers == nil || applied.ReadOwnerID(a.object.GetAnnotations()) != "" {
		return false
	}
	return a.updateApplied(func(c *applied.Content) { c.OwnerID = string(a.object.GetUID()) })
}

// engineOwner returns the owner of the Cluster's resources for the engine.
func (a *azureReconciliation[O, I]) engineOwner() engine.Owner {
	cluster := a.target.Cluster.Name
	out := engine.Owner{TagKey: infrav1.ClusterTagKey(cluster), TagValue: infrav1.TagOwned, IDKey: infrav1.OwnerTag}
	if a.target.Owner != nil {
		out.ID = ownership.OwnerTagValue(a.target.Owner, cluster)
	}
	return out
}

// recordedResources lists the resources that the object's annotations record as its own, as seen in Azure.
func (a *azureReconciliation[O, I]) recordedResources() []arm.ID {
	var out []arm.ID
	for _, id := range applied.RecordedResources(a.object.GetAnnotations()) {
		out = append(out, arm.SubscriptionID(a.session.Access.SubscriptionID)+id)
	}
	return out
}

// forgetRefused removes from lastApplied the paths that only refused writes would have added. Paths that the plan still has are recorded
// again before the next write.
func (a *azureReconciliation[O, I]) forgetRefused() {
	subscription := arm.SubscriptionID(a.session.Access.SubscriptionID)
	lastWrite := func(id arm.ID) (refused, open bool) { return a.Engine.LastWrite(subscription + id) }
	if left := applied.Read(a.object.GetAnnotations()).Applied.WithoutRefused(lastWrite); left != nil {
		a.updateApplied(func(c *applied.Content) { c.Applied = left })
	}
}

// storePathsBefore records in the object the paths that the plan will send, and reports whether that changed the object.
func (a *azureReconciliation[O, I]) storePathsBefore(planned *Plan) bool {
	paths := planned.LastApplied.PathsBefore(planned.Graph)
	return paths != nil && a.updateApplied(func(c *applied.Content) { c.Applied = paths })
}

// storePathsAfter records in the object the paths that it has in Azure after a convergence.
func (a *azureReconciliation[O, I]) storePathsAfter(planned *Plan, outcome arm.Outcome) {
	seen := slices.ContainsFunc(outcome.Results, func(r arm.Result) bool { return r.Owned && len(r.Observed) > 0 })
	a.updateApplied(func(c *applied.Content) {
		c.Applied = planned.LastApplied.PathsAfter(planned.Graph, outcome)
		if seen && (a.declaration.IdentityUsers != nil || planned.RecordSubscription) {
			c.Subscription = a.session.Access.SubscriptionID
		}
	})
}

// readInventory reads the inventory of the object, and emits an event if it is that of another object.
func (a *azureReconciliation[O, I]) readInventory() applied.Inventory {
	list := applied.ReadInventory(a.declaration.Name, a.object)
	if list.IsOfAnother(a.declaration.Name, a.object) {
		a.recording.AddIgnored("the inventory in the annotation " + infrav1.AppliedAnnotation + " is that of " + list.Object + " and is ignored: resources created for that object stay its own")
	}
	return list
}

// storeOutcome stores the inventory and the result of the migration after a convergence, and emits an event for entries of the inventory
// that do not count.
func (a *azureReconciliation[O, I]) storeOutcome(outcome arm.Outcome) {
	if len(outcome.IgnoredInventory) > 0 {
		var ids []string
		for _, id := range outcome.IgnoredInventory {
			ids = append(ids, string(id))
		}
		a.recording.AddIgnored("the inventory in the annotation " + infrav1.AppliedAnnotation + " lists resources that are not proven to be created for the object, so they are left alone: " + strings.Join(ids, ", "))
	}
	a.updateApplied(func(c *applied.Content) {
		if a.observing.isOn() {
			// The differences at the migration are an observation. Without them a later change of the spec would count as one of them.
			c.Migration = a.session.Migration.Migration(outcome)
			return
		}
		c.SetInventory(a.declaration.Name, a.object, outcome.Inventory, outcome.Adopted)
		if found := a.session.Migration; found != nil {
			c.Migration = found.Migration(outcome)
		}
	})
}
