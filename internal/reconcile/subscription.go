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
		if errs := compareSubscription(holder, a.session.Access.SubscriptionID); len(errs) > 0 {
			return RefuseSpec(errs)
		}
	}
	return nil
}

// compareSubscription compares the recorded subscription of the resources of an object with another one.
func compareSubscription(holder client.Object, subscription string) field.ErrorList {
	recorded := applied.Read(holder.GetAnnotations()).Subscription
	if recorded == "" || strings.EqualFold(recorded, subscription) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "subscriptionID"), subscription, fmt.Sprintf("is the subscription that the Cluster has by this "+
		"field, by its credential or by AZURE_SUBSCRIPTION_ID of the manager, and the resources are in subscription %s. Resources cannot move between "+
		"subscriptions: name that one, or make a new cluster", recorded))}
}
