package asoresource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// typesDeletedWithObject are types whose resources are not deleted when their manifest is removed, because they contain all others.
// They are deleted with the object, which records them.
var typesDeletedWithObject = []string{types.ResourceGroup, types.ManagedCluster}

// LastApplied returns the lastApplied of the object: the values that earlier plans sent. Manifests may be of any type.
func LastApplied(in Input) applied.State {
	known := applied.Types{}
	add := func(id arm.ID) {
		if row, err := types.ForID(id); err == nil {
			known[row.Name] = infrav1.ResourcesReadyCondition
		}
	}
	for _, m := range in.OwnManifests() {
		if id, err := in.ResourceID(m); err == nil {
			add(id)
		}
	}
	for _, id := range applied.AppliedResources(in.Object.GetAnnotations(), in.SubscriptionID()) {
		add(id)
	}
	for _, name := range typesDeletedWithObject {
		known[name] = ""
	}
	return applied.ReadState(in.Object.GetAnnotations(),
		applied.Scope{SubscriptionID: in.SubscriptionID(), Types: known, KeepsLasting: true, AllLeaves: true})
}

// BuildDeletePlan returns the resources that the manifests of the object may have created. It only reads resources that their policy
// keeps, and leaves out agent pools if their cluster is deleted, too.
func BuildDeletePlan(in Input, withCluster bool) (*arm.Graph, error) {
	g := &arm.Graph{}
	for _, m := range in.OwnManifests() {
		id, err := in.ResourceID(m)
		policy := m.Annotations[PolicyAnnotation]
		if err != nil || g.Has(id) {
			continue
		}
		if policy == PolicySkip || policy == PolicyDetach {
			g.Add(arm.Node{ID: id, Policy: arm.Observe, Detached: true, Group: infrav1.ResourcesReadyCondition})
			continue
		}
		if withCluster && id.Type() == types.AgentPool {
			continue
		}
		g.Add(arm.Node{ID: id, Policy: arm.Repair, Foreign: in.foreignAction(id), Group: infrav1.ResourcesReadyCondition})
	}
	// Resources of removed manifests are deleted with the object if they carry the tag.
	for _, id := range LastApplied(in).ListAbandoned(g) {
		if !in.declares(in.ObjectKey, id) {
			g.Add(arm.Node{ID: id, Policy: arm.Repair, Foreign: arm.UseForeign, Group: infrav1.ResourcesReadyCondition})
		}
	}
	addDependencies(in, g)
	return g, g.Validate()
}

// NothingCreated reports whether no resource of an object can have been created in Azure.
func NothingCreated(obj metav1.Object) bool {
	return !applied.IsStored(obj.GetAnnotations())
}
