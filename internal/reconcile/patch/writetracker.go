package patch

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WriteTracker remembers the last write of each object until the cache shows it. A reconciliation of an older version would repeat the
// work of the last one and revert its conditions. A nil tracker remembers nothing. It serves the
// objects of one kind and is safe for concurrent use.
type WriteTracker struct {
	now        func() time.Time
	mu         sync.Mutex
	lastWrites map[client.ObjectKey]writtenVersion
	lastSweep  time.Time
}

// NewWriteTracker returns a tracker of the objects of one kind. now is the clock.
func NewWriteTracker(now func() time.Time) *WriteTracker {
	return &WriteTracker{now: now, lastWrites: map[client.ObjectKey]writtenVersion{}}
}

// writtenVersion is the last write of an object. removed is set if the write removed the last finalizer of an object that is being
// deleted.
type writtenVersion struct {
	uid             types.UID
	resourceVersion string
	removed         bool
	writtenAt       time.Time
}

// retention is how long a write is remembered of an object that is never read again, for example because its finalizers were removed by
// hand. No cache lags that long.
const retention = time.Hour

// IsStale reports whether obj is older than its last write. The event of the newer version is then still to come. After the API server
// was restored from a backup no such event comes: resource versions are below the remembered one although the cache is current. So the
// API server is asked; c reads unstructured objects past the cache.
func (w *WriteTracker) IsStale(ctx context.Context, c client.Client, obj client.Object) (bool, error) {
	if w == nil || !w.isBehind(obj) {
		return false, nil
	}
	gvk, err := c.GroupVersionKindFor(obj)
	if err != nil {
		return false, err
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	if err := c.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, fmt.Errorf("read %s %s past the cache: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	if stored.GetUID() != obj.GetUID() || stored.GetResourceVersion() != obj.GetResourceVersion() {
		return true, nil
	}
	w.Forget(client.ObjectKeyFromObject(obj))
	return false, nil
}

// Forget drops an object that is gone or current in the cache.
func (w *WriteTracker) Forget(key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lastWrites, key)
}

// isBehind reports whether obj is older than its last write. A write that the cache shows is forgotten.
func (w *WriteTracker) isBehind(obj client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := client.ObjectKeyFromObject(obj)
	written, ok := w.lastWrites[key]
	if !ok {
		return false
	}
	if written.removed && written.uid == obj.GetUID() {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), written.resourceVersion)
	if err == nil && order < 0 && written.uid == obj.GetUID() {
		return true
	}
	delete(w.lastWrites, key)
	return false
}

// recordWrite remembers the API server's response to a write.
func (w *WriteTracker) recordWrite(obj client.Object) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if now.Sub(w.lastSweep) > retention {
		maps.DeleteFunc(w.lastWrites, func(_ client.ObjectKey, written writtenVersion) bool { return now.Sub(written.writtenAt) > retention })
		w.lastSweep = now
	}
	ended := !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0
	w.lastWrites[client.ObjectKeyFromObject(obj)] = writtenVersion{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion(),
		removed: ended, writtenAt: now}
}
