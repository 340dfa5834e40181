package asoresource

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// typesDeletedWithObject are the types whose resources do not go with their document: everything else is in them. They go with the object,
// which remembers them.
var typesDeletedWithObject = []string{types.ResourceGroup, types.ManagedCluster}

// LastApplied is what plans of the object have sent. Documents may be of any type.
func LastApplied(in Input) memory.Memory {
	known := memory.Types{}
	add := func(id arm.ID) {
		if row, err := types.ForID(id); err == nil {
			known[row.Name] = infrav1.ResourcesReadyCondition
		}
	}
	for _, d := range in.OwnManifests() {
		if id, err := in.ResourceID(d); err == nil {
			add(id)
		}
	}
	for _, id := range memory.Remembered(in.Object.GetAnnotations(), in.SubscriptionID()) {
		add(id)
	}
	for _, name := range typesDeletedWithObject {
		known[name] = ""
	}
	return memory.Of(in.Object.GetAnnotations(), memory.Scope{SubscriptionID: in.SubscriptionID(), Types: known, Lasting: true, Leaves: true})
}

// BuildDeletePlan names what the documents of the object may have made. Those that are let go are not in it, and neither is what
// goes with something else: agent pools when their cluster does.
func BuildDeletePlan(in Input, withCluster bool) (*arm.Graph, error) {
	g := &arm.Graph{}
	for _, d := range in.OwnManifests() {
		id, err := in.ResourceID(d)
		policy := d.Annotations[PolicyAnnotation]
		if err != nil || policy == PolicySkip || policy == PolicyDetach || g.Has(id) || withCluster && id.Type() == types.AgentPool {
			continue
		}
		g.Add(arm.Node{ID: id, Policy: arm.Repair, Foreign: in.foreignAction(id), Group: infrav1.ResourcesReadyCondition})
	}
	// What no document names any more goes with the object, if it carries the tag.
	for _, id := range LastApplied(in).Left(g) {
		if !in.declares(in.ObjectKey, id) {
			g.Add(arm.Node{ID: id, Policy: arm.Repair, Foreign: arm.UseForeign, Group: infrav1.ResourcesReadyCondition})
		}
	}
	addDependencies(in, g)
	return g, g.Validate()
}

// NothingCreated tells whether nothing of an object can ever have been made in Azure.
func NothingCreated(obj metav1.Object) bool {
	annotations := obj.GetAnnotations()
	return !memory.Stored(annotations) && annotations[infrav1.InventoryAnnotation] == ""
}
