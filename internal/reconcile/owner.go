package reconcile

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/annotation"
)

// ensureOwnerID gives an object whose ID marks the Cluster's resources its ID, and reports whether it had none. The ID has to be stored
// before anything is created. It is the object's current UID, so that two managers at work at once, or one that lost its write, choose
// the same ID. After a move the object has another UID and keeps the ID.
func (a *azureReconciliation[O, I]) ensureOwnerID() bool {
	annotations := a.object.GetAnnotations()
	if a.declaration.IdentityUsers == nil || annotations[infrav1.OwnerIDAnnotation] != "" {
		return false
	}
	return annotation.Set(a.object, map[string]string{infrav1.OwnerIDAnnotation: string(a.object.GetUID())})
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

// forgetRefused removes from the record what only writes would have added that Azure refused. What the plan still has is recorded again
// before the next write.
func (a *azureReconciliation[O, I]) forgetRefused() {
	subscription := arm.SubscriptionID(a.session.Access.SubscriptionID)
	lastWrite := func(id arm.ID) (refused, open bool) { return a.Engine.LastWrite(subscription + id) }
	annotation.Set(a.object, applied.WithoutRefused(a.object.GetAnnotations(), lastWrite))
}

// readInventory reads the inventory annotation. A list in the format of an earlier release does not separate adopted resources from
// created ones.
func (a *azureReconciliation[O, I]) readInventory(g *arm.Graph) applied.Inventory {
	list := applied.ReadInventory(a.declaration.Name, a.object)
	if list.CopiedFrom != "" {
		a.recording.AddIgnored("the annotation " + infrav1.InventoryAnnotation + " is that of " + list.CopiedFrom + " and is ignored: resources created for that object stay its own")
	}
	if list.FromEarlierRelease {
		all := list.Created
		adoptable := func(id arm.ID) bool { node := g.Node(id); return node != nil && node.Foreign == arm.AdoptForeign }
		list.Created = slices.DeleteFunc(slices.Clone(all), adoptable)
		list.Adopted = slices.DeleteFunc(slices.Clone(all), func(id arm.ID) bool { return !adoptable(id) })
	}
	return list
}

// storeInventory stores the inventory after a reconciliation, and emits an event for entries that do not count.
func (a *azureReconciliation[O, I]) storeInventory(outcome arm.Outcome) {
	if len(outcome.IgnoredInventory) > 0 {
		var ids []string
		for _, id := range outcome.IgnoredInventory {
			ids = append(ids, string(id))
		}
		a.recording.AddIgnored("the annotation " + infrav1.InventoryAnnotation + " lists resources that are not proven to be created for the object, so they are left alone: " + strings.Join(ids, ", "))
	}
	annotation.Set(a.object, applied.Inventory{Created: outcome.Inventory, Adopted: outcome.Adopted}.BuildAnnotations(a.declaration.Name, a.object))
}
