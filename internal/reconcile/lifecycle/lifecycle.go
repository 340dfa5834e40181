// Package lifecycle does what is the same for every kind before its own work begins: the Paused condition, the finalizer,
// and the annotation that keeps clusterctl from moving an object while it is worked on.
package lifecycle

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// Object is of a kind that can be paused.
type Object interface {
	client.Object
	conditions.Setter
}

// staleRetryInterval is how soon an object is looked at again that is not what the cache shows, or was just written. Caches are behind for
// milliseconds, and a status that arrives there wakes nobody.
const staleRetryInterval = 50 * time.Millisecond

// Enter begins a pass: it gives what is stored in an outdated form today's, keeps the Paused condition, commits the
// finalizer ("" is none) and the block on clusterctl move, and follows what the pass goes on to change. It returns nil when
// the pass ends here with the result: the object is paused, or it was changed, by this pass or by an earlier one that written
// remembers, and comes back.
func Enter(ctx context.Context, c client.Client, writes *patch.WriteTracker, cluster *clusterv1.Cluster, obj Object, finalizer string) (*patch.Changes, ctrl.Result, error) {
	outdated, err := writes.IsStale(ctx, c, obj)
	if err == nil && !outdated {
		outdated, err = patch.WriteCurrentFormat(ctx, c, writes, obj)
	}
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	if outdated {
		return nil, ctrl.Result{RequeueAfter: staleRetryInterval}, nil
	}
	if stop, err := updatePaused(ctx, c, writes, cluster, obj); err != nil || stop {
		return nil, ctrl.Result{}, err
	}
	if finalizer != "" {
		if stop, err := addFinalizer(ctx, c, writes, obj, finalizer); err != nil || stop {
			return nil, ctrl.Result{}, err
		}
	}
	changes := patch.TrackChanges(c, writes, obj)
	restoreReady(obj)
	return changes, ctrl.Result{}, nil
}

// updatePaused keeps the Paused condition, says so in Ready, and takes the block on clusterctl move away from a paused object:
// everything that Azure has of it is named by its spec, so it can move at any time. One that is being deleted says that the
// pause holds it up. stop tells that the pass ends here, because the object is paused or was changed and comes back.
func updatePaused(ctx context.Context, c client.Client, writes *patch.WriteTracker, cluster *clusterv1.Cluster, obj Object) (stop bool, err error) {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return false, err
	}
	before, now := conditions.Get(obj, clusterv1.PausedCondition), pausedCondition(obj, gvk.Kind, cluster)
	if now.Status == metav1.ConditionFalse && before != nil && conditions.HasSameStateExceptObservedGeneration(before, &now) {
		// That it is about a later generation is written with the other conditions, and is no write of its own.
		conditions.Set(obj, now)
		return false, nil
	}
	changes := patch.TrackChanges(c, writes, obj)
	conditions.Set(obj, now)
	if now.Status == metav1.ConditionFalse {
		return true, changes.Write(ctx)
	}
	if obj.GetDeletionTimestamp().IsZero() {
		markReadyPaused(obj)
	} else if !deletion.IsMoved(obj) {
		deletion.ReplaceConditions(obj, deletion.PausedCondition(obj, gvk.Kind, cluster))
	}
	annotation.Set(obj, map[string]string{infrav1.BlockMoveAnnotation: ""})
	return true, changes.Write(ctx)
}

// addFinalizer commits the finalizer and the block on clusterctl move before anything is made in Azure. stop tells that the
// object was changed and comes back. Objects that are being deleted are left as they are.
func addFinalizer(ctx context.Context, c client.Client, writes *patch.WriteTracker, obj client.Object, finalizer string) (stop bool, err error) {
	if !obj.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	changes := patch.TrackChanges(c, writes, obj)
	added := controllerutil.AddFinalizer(obj, finalizer)
	if _, blocked := obj.GetAnnotations()[infrav1.BlockMoveAnnotation]; blocked && !added {
		return false, nil
	}
	annotations := map[string]string{infrav1.BlockMoveAnnotation: "true"}
	if added {
		// Nothing is made of an object before it has its finalizer, whoever makes it.
		annotations[infrav1.TakenOverAnnotation] = takenover.New
	}
	annotation.Set(obj, annotations)
	return true, changes.Write(ctx)
}
