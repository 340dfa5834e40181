package reconcile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// refuseForgedTags refuses nodes whose body sets an ownership tag of another owner. Such a tag would hand the resource to that owner.
// If the object has nothing in Azure yet, the whole plan is refused, also for a tag in the spec that the provider's own tag replaces.
func (a *azureReconciliation[O, I]) refuseForgedTags(g *arm.Graph) error {
	forged := a.clusterOwner().FindForgedNodes(g)
	var errs field.ErrorList
	for _, node := range g.Nodes() {
		key, isForged := forged[node]
		if !isForged {
			continue
		}
		at := a.findField(func(spec specfield.Spec) string { return spec.FieldContaining(key) })
		if at == "" {
			at = node.ID.ShortName()
		}
		err := field.Error{Type: field.ErrorTypeForbidden, Field: at,
			Detail: "tag " + key + " marks the owner of a resource and is set only by the provider: remove it"}
		errs = append(errs, &err)
		node.Refused = err.Error()
	}
	if !a.nothingCreated() {
		return nil
	}
	if len(errs) == 0 {
		if at := a.findField(func(spec specfield.Spec) string { return spec.FieldOfTag(a.clusterOwner().FindOtherOwnersTag) }); at != "" {
			errs = append(errs, &field.Error{Type: field.ErrorTypeForbidden, Field: at,
				Detail: "the tag marks the owner of a resource and is set only by the provider: remove it"})
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return RefuseSpec(errs)
}
