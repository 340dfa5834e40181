package reconcile

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// checkSubscription returns an error if the object, or the owner of its Cluster's resources, has resources in another subscription than that
// of the session. Otherwise the provider would create the resources again in the new subscription, and never delete those in the old one.
func (a *azureReconciliation[O, I]) checkSubscription() error {
	holders := []client.Object{a.object}
	if a.target.Owner != nil {
		holders = append(holders, a.target.Owner)
	}
	for _, holder := range holders {
		if errs := compareSubscription(holder, a.session.Access.SubscriptionID, a.subscriptionField()); len(errs) > 0 {
			return RefuseSpec(errs)
		}
	}
	return nil
}

// subscriptionField returns the field with the subscription of the Cluster: of the object itself, or else of the owner of the Cluster's
// resources.
func (a *azureReconciliation[O, I]) subscriptionField() *field.Path {
	if a.declaration.IdentityUsers != nil || a.target.Owner == nil {
		return field.NewPath("spec", "subscriptionID")
	}
	gvk, err := a.Client.GroupVersionKindFor(a.target.Owner)
	if err != nil {
		return field.NewPath("spec", "subscriptionID")
	}
	return field.NewPath(gvk.Kind+" "+a.target.Owner.GetName(), "spec", "subscriptionID")
}

// compareSubscription compares the recorded subscription of the resources of an object with another one.
func compareSubscription(holder client.Object, subscription string, path *field.Path) field.ErrorList {
	recorded := applied.Read(holder.GetAnnotations()).Subscription
	if recorded == "" || strings.EqualFold(recorded, subscription) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, subscription, fmt.Sprintf("the resources of the cluster are in subscription %s and cannot "+
		"move: set this field to it, or create a new cluster. Without a value, the subscription is that of the credential, or AZURE_SUBSCRIPTION_ID "+
		"of the manager", recorded))}
}
