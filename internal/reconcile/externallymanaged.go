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

// excludeExternallyManaged narrows own to objects that others do not manage. Of theirs, those that are ready in the words of the former
// contract pass with any change, because readiness is in the status.
func excludeExternallyManaged(own predicate.Predicate) predicate.Predicate {
	here := predicate.NewPredicateFuncs(func(obj client.Object) bool { return !annotations.IsExternallyManaged(obj) })
	unheard := predicate.NewPredicateFuncs(func(obj client.Object) bool {
		return annotations.IsExternallyManaged(obj) && patch.HasOnlyLegacyReady(obj)
	})
	return predicate.Or(predicate.And(own, here), unheard)
}

// translateExternalReady translates the readiness of an object that others manage, who write status.ready of contract v1beta1, to that of today's.
// Once the Cluster has the answer it is not written again: an owner that does not know the field may keep taking it away.
func (p *reconciliation[O, I]) translateExternalReady(ctx context.Context) error {
	if !patch.HasOnlyLegacyReady(p.object) {
		return nil
	}
	cluster, err := util.GetOwnerCluster(ctx, p.Client, metav1.ObjectMeta{Namespace: p.object.GetNamespace(), OwnerReferences: p.object.GetOwnerReferences()})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("find the Cluster of %s %s: %w", p.declaration.Name, p.key, err)
	}
	if cluster == nil {
		return nil
	}
	if provisioned := cluster.Status.Initialization.InfrastructureProvisioned; provisioned != nil && *provisioned {
		return nil
	}
	if err := client.IgnoreNotFound(patch.MarkProvisioned(ctx, p.Client, p.object)); err != nil {
		return fmt.Errorf("write that %s %s, which others manage, is provisioned: %w", p.declaration.Name, p.key, err)
	}
	return nil
}
