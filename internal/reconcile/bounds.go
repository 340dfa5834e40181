package reconcile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// checkBounds refuses to plan from objects that exceed the limits of their schemas, or whose names would change the meaning of a
// resource ID. A deletion only uses names, so such an object can still be deleted.
func (a *azureReconciliation[O, I]) checkBounds() error {
	if errs := append(maxima.FindExceeded(a.declaration.Name, a.object),
		specfield.DecodeSpec(a.object).CheckMisread()...); len(errs) > 0 {
		return RefuseSpec(errs)
	}
	owner := a.target.Owner
	if owner == nil {
		return nil
	}
	gvk, err := a.Client.GroupVersionKindFor(owner)
	if err != nil || gvk.Kind == a.declaration.Name {
		return err
	}
	if errs := checkOwnerBounds(gvk.Kind, owner); len(errs) > 0 {
		return RefuseSpec(errs)
	}
	return nil
}

// checkOwnerBounds returns the violations of another object, with its kind and name in front of each field: the fields are not those of
// the object that shows the error.
func checkOwnerBounds(kind string, owner client.Object) field.ErrorList {
	errs := append(maxima.FindExceeded(kind, owner), specfield.DecodeSpec(owner).CheckMisread()...)
	for _, err := range errs {
		err.Field = kind + " " + owner.GetName() + ": " + err.Field
	}
	return errs
}
