// Package lifecycle does what is the same for every kind before its own work begins: the Paused condition, the finalizer,
// and the annotation that keeps clusterctl from moving an object while it is worked on.
package lifecycle

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/paused"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
)

// Pause keeps the Paused condition, and takes the block on clusterctl move away from a paused object: everything that
// Azure has of it is named by its spec, so it can move at any time. stop tells that the pass ends here, because the object
// is paused or was changed and comes back.
func Pause(ctx context.Context, c client.Client, cluster *clusterv1.Cluster, obj paused.ConditionSetter) (stop bool, err error) {
	isPaused, requeue, err := paused.EnsurePausedCondition(ctx, c, cluster, obj)
	if err != nil {
		return false, err
	}
	if _, blocked := obj.GetAnnotations()[infrav1.BlockMoveAnnotation]; !isPaused || !blocked {
		return isPaused || requeue, nil
	}
	before := obj.DeepCopyObject().(client.Object)
	annotations := obj.GetAnnotations()
	delete(annotations, infrav1.BlockMoveAnnotation)
	obj.SetAnnotations(annotations)
	return true, patch.Object(ctx, c, before, obj)
}

// Begin commits the finalizer and the block on clusterctl move before anything is made in Azure. stop tells that the
// object was changed and comes back. Objects that are being deleted are left as they are.
func Begin(ctx context.Context, c client.Client, obj client.Object, finalizer string) (stop bool, err error) {
	if !obj.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	before := obj.DeepCopyObject().(client.Object)
	added := controllerutil.AddFinalizer(obj, finalizer)
	if _, blocked := obj.GetAnnotations()[infrav1.BlockMoveAnnotation]; blocked && !added {
		return false, nil
	}
	meta := metav1.ObjectMeta{Annotations: obj.GetAnnotations()}
	metav1.SetMetaDataAnnotation(&meta, infrav1.BlockMoveAnnotation, "true")
	obj.SetAnnotations(meta.Annotations)
	return true, patch.Object(ctx, c, before, obj)
}
