package lastwrites

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
)

// Guard returns a reconciler that postpones a reconciliation while the cache does not show what c wrote last. kind names the controller,
// and own is an empty object of the kind that it reconciles. A client that is not a *Client records nothing, so nothing is postponed.
func Guard(c client.Client, kind string, own client.Object, reconciler reconcile.Reconciler) reconcile.Reconciler {
	recording, ok := c.(*Client)
	if !ok {
		return reconciler
	}
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		of := Request{kind, request.NamespacedName}
		stale, interval, err := recording.findStale(ctx, of, own)
		if err != nil {
			return ctrl.Result{}, err
		}
		if stale != "" {
			metrics.CountPostponed(kind, stale)
			ctrl.LoggerFrom(ctx).V(4).Info("The cache does not show the last write yet", "written", stale)
			return ctrl.Result{RequeueAfter: interval}, nil
		}
		return reconciler.Reconcile(context.WithValue(ctx, requestKey{}, of), request)
	})
}
