package lastwrites

import (
	"context"
	"fmt"

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
		defer recording.begin(of)()
		return reconciler.Reconcile(context.WithValue(ctx, requestKey{}, of), request)
	})
}

// begin records that the reconciliation of a request runs until end is called. A controller never reconciles an object twice at the same time.
func (c *Client) begin(request Request) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[request] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, request)
	}
}

// IsSettled reports whether a controller is done with an object: the controller is not reconciling it in this process, and the caller's copy of the
// object is its latest version in the cache, with the controller's last write. When the controller reconciles the object again, its cache has at
// least the changes that the caller's cache has. kind is the name that the controller passed to Guard. With a client that is not a *Client, every
// object is settled.
func IsSettled(ctx context.Context, c client.Client, kind string, object client.Object) (bool, error) {
	recording, ok := c.(*Client)
	if !ok {
		return true, nil
	}
	ref, ok := recording.refOf(object)
	if !ok {
		return true, nil
	}
	recording.mu.Lock()
	runs := recording.running[Request{kind, ref.key}]
	written, isWritten := recording.written[ref]
	recording.mu.Unlock()
	if runs {
		return false, nil
	}
	if isWritten {
		if stale, err := recording.isStale(ctx, ref, written); stale || err != nil {
			return false, err
		}
	}
	current := object.DeepCopyObject().(client.Object)
	cached, err := recording.read(ctx, ref.key, current)
	if err != nil {
		return false, fmt.Errorf("read %s %s: %w", kind, ref.key, err)
	}
	return cached.uid == object.GetUID() && cached.resourceVersion == object.GetResourceVersion(), nil
}
