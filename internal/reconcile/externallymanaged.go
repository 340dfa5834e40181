package reconcile

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// excludeExternallyManaged narrows own to objects that this provider manages. An externally managed object that is ready only by
// contract v1beta1 passes with any change, because readiness is in the status.
func excludeExternallyManaged(own predicate.Predicate) predicate.Predicate {
	here := predicate.NewPredicateFuncs(func(obj client.Object) bool { return !annotations.IsExternallyManaged(obj) })
	unheard := predicate.NewPredicateFuncs(func(obj client.Object) bool {
		return annotations.IsExternallyManaged(obj) && patch.HasOnlyLegacyReady(obj)
	})
	return predicate.Or(predicate.And(own, here), unheard)
}

// translateExternalReady translates the readiness of an externally managed object from contract v1beta1 to the field of
// status.initialization that Cluster API reads. It stops once Cluster API has read it: an external manager that does not know the field may
// keep removing it.
func (p *reconciliation[O, I]) translateExternalReady(ctx context.Context) error {
	if !patch.HasOnlyLegacyReady(p.object) {
		return nil
	}
	cluster, err := util.GetOwnerCluster(ctx, p.Client,
		metav1.ObjectMeta{Namespace: p.object.GetNamespace(), OwnerReferences: p.object.GetOwnerReferences()})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("find the Cluster of %s %s: %w", p.declaration.Name, p.key, err)
	}
	if cluster == nil || patch.HasReadReadiness(cluster, p.object) {
		return nil
	}
	if err := client.IgnoreNotFound(patch.TranslateReady(ctx, p.Client, p.object)); err != nil {
		return fmt.Errorf("show externally managed %s %s as ready: %w", p.declaration.Name, p.key, err)
	}
	return nil
}
