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

// WriteTracker remembers what was written of objects until it is read again: caches lag behind, and a pass over an object from
// before the last pass would do that one's work once more, and undo what it said. The zero value is usable, and nil
// remembers nothing. It is of the objects of one kind, and safe for concurrent use.
type WriteTracker struct {
	mu         sync.Mutex
	lastWrites map[client.ObjectKey]writtenVersion
	lastSweep  time.Time
}

// writtenVersion is what was written of an object, and when. The write that takes the last finalizer off has ended it.
type writtenVersion struct {
	uid             types.UID
	resourceVersion string
	removed         bool
	writtenAt       time.Time
}

// retention is how long a write is remembered of an object that nobody reads again, as one whose finalizers somebody else took
// away. No cache is behind for that long.
const retention = time.Hour

// IsStale tells whether obj was read before what was last written of it had arrived in the cache. The event of its
// arrival is still to come. Where the store was taken back to an older state there is none to wait for: versions begin
// anew below the one written, and what the cache has is what is stored. So the API server is asked, with c, which reads
// unstructured objects past the cache.
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

// Forget forgets an object that the cache does not have any more, or has as it is stored.
func (w *WriteTracker) Forget(key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lastWrites, key)
}

// isBehind tells whether obj is older than what was last written of it. It is forgotten when it has arrived.
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

// recordWrite remembers an object as the API server answered a write of it.
func (w *WriteTracker) recordWrite(obj client.Object) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lastWrites == nil {
		w.lastWrites = map[client.ObjectKey]writtenVersion{}
	}
	now := time.Now()
	if now.Sub(w.lastSweep) > retention {
		maps.DeleteFunc(w.lastWrites, func(_ client.ObjectKey, written writtenVersion) bool { return now.Sub(written.writtenAt) > retention })
		w.lastSweep = now
	}
	ended := !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0
	w.lastWrites[client.ObjectKeyFromObject(obj)] = writtenVersion{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion(), removed: ended, writtenAt: now}
}
