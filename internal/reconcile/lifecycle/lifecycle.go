// Package lifecycle does the first steps of a reconciliation that are the same for every kind: the Paused condition, the finalizer, and
// the annotation that blocks clusterctl move while an object is reconciled. Calls
// block for patches of the object and may be repeated.
package lifecycle

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// Object is an object that can be paused.
type Object interface {
	client.Object
	conditions.Setter
}

// writtenRetryInterval is the delay until a just written object is reconciled. Caches lag by milliseconds, and the event of a changed
// status is filtered out.
const writtenRetryInterval = 50 * time.Millisecond

// Enter begins a reconciliation. It converts outdated formats, keeps the Paused condition, stores the finalizer (if not "") and the
// block on clusterctl move, and tracks later changes. The first Paused condition of an object and a new observed generation are among
// those, without a write of their own. It returns nil changes if the reconciliation ends here with the result: the object is paused, its
// format was converted, or another program has changed it.
func Enter(ctx context.Context, c client.Client, cluster *clusterv1.Cluster, obj Object,
	finalizer string) (*patch.Changes, ctrl.Result, error) {
	outdated, err := patch.WriteCurrentFormat(ctx, c, obj)
	if err != nil {
		return nil, ctrl.Result{}, err
	}
	if outdated {
		return nil, ctrl.Result{RequeueAfter: writtenRetryInterval}, nil
	}
	changes := patch.TrackChanges(c, obj)
	if stop, err := updatePaused(ctx, c, changes, cluster, obj); err != nil || stop {
		return nil, ctrl.Result{}, err
	}
	if finalizer != "" {
		err := addFinalizer(ctx, changes, obj, finalizer)
		if apierrors.IsConflict(err) {
			// Another program has changed the object since it was read, as happens to new objects, and nothing was stored.
			return nil, ctrl.Result{RequeueAfter: writtenRetryInterval}, nil
		}
		if err != nil {
			return nil, ctrl.Result{}, err
		}
	}
	restoreReady(obj)
	return changes, ctrl.Result{}, nil
}

// updatePaused keeps the Paused condition and shows a pause in Ready. It removes the block on clusterctl move from a paused object,
// which can be moved at any time because the spec names everything it has in Azure. The conditions of a paused object that is being
// deleted show that the pause blocks the deletion. stop is true if the reconciliation ends here because the object is paused.
func updatePaused(ctx context.Context, c client.Client, changes *patch.Changes, cluster *clusterv1.Cluster, obj Object) (stop bool,
	err error) {
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return false, err
	}
	wasPaused, now := conditions.IsTrue(obj, clusterv1.PausedCondition), pausedCondition(obj, gvk.Kind, cluster)
	conditions.Set(obj, now)
	if now.Status == metav1.ConditionFalse {
		if !wasPaused {
			return false, nil
		}
		// Other programs wait for the end of the pause.
		return false, changes.Write(ctx)
	}
	conditions.Delete(obj, infrav1.DriftedCondition) // Azure is not read, so the list of writes would become outdated.
	if obj.GetDeletionTimestamp().IsZero() {
		markReadyPaused(obj)
	} else if !deletion.IsMoved(obj) {
		deletion.ReplaceConditions(obj, deletion.PausedCondition(obj, gvk.Kind, cluster))
	}
	patch.SetAnnotations(obj, map[string]string{infrav1.BlockMoveAnnotation: ""})
	return true, changes.Write(ctx)
}

// addFinalizer stores the finalizer and the block on clusterctl move before anything is created in Azure. It leaves objects that are being
// deleted as they are.
func addFinalizer(ctx context.Context, changes *patch.Changes, obj client.Object, finalizer string) error {
	if !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	added := controllerutil.AddFinalizer(obj, finalizer)
	if _, blocked := obj.GetAnnotations()[infrav1.BlockMoveAnnotation]; blocked && !added {
		return nil
	}
	patch.SetAnnotations(obj, map[string]string{infrav1.BlockMoveAnnotation: "true"})
	content := applied.Read(obj.GetAnnotations())
	if added && content.Migration == nil && !applied.IsStored(obj.GetAnnotations()) {
		// No provider creates resources of an object before the object has its finalizer, so nothing is to be migrated. An object that
		// had a plan has lost its finalizer, for example by an apply: it keeps the differences found at its migration.
		content.Migration = &applied.Migration{}
		content.Store(obj)
	}
	return changes.WriteWithoutStatus(ctx)
}
