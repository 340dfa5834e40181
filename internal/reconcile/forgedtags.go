package reconcile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// refuseForgedTags refuses nodes whose body carries the tag of another owner, which would give the resource to that, or let what is in the spec
// pass for it. A plan of an object that has nothing in Azure is refused as a whole.
func (a *azureReconciliation[O, I]) refuseForgedTags(g *arm.Graph) error {
	forged := a.clusterOwner().Forged(g)
	var errs field.ErrorList
	for node, key := range forged {
		at := a.findField(func(spec specfield.Spec) string { return spec.Containing(key) })
		if at == "" {
			at = node.ID.ShortName()
		}
		err := field.Error{Type: field.ErrorTypeForbidden, Field: at, Detail: "tag " + key + " marks whose a resource is, and only the provider writes it: leave it out"}
		errs = append(errs, &err)
		node.Refused = err.Error()
	}
	if len(errs) == 0 || !a.nothingCreated() {
		return nil
	}
	return RefuseSpec(errs)
}
