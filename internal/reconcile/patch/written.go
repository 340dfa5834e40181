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

// Written remembers what was written of objects until it is read again: caches lag behind, and a pass over an object from
// before the last pass would do that one's work once more, and undo what it said. The zero value is usable, and nil
// remembers nothing. It is of the objects of one kind, and safe for concurrent use.
type Written struct {
	mu       sync.Mutex
	versions map[client.ObjectKey]version
	swept    time.Time
}

// version is what was written of an object, and when. The write that takes the last finalizer off has ended it.
type version struct {
	uid      types.UID
	resource string
	ended    bool
	at       time.Time
}

// unread is how long a write is remembered of an object that nobody reads again, as one whose finalizers somebody else took
// away. No cache is behind for that long.
const unread = time.Hour

// Outdated tells whether obj was read before what was last written of it had arrived in the cache. The event of its
// arrival is still to come. Where the store was taken back to an older state there is none to wait for: versions begin
// anew below the one written, and what the cache has is what is stored. So the API server is asked, with c, which reads
// unstructured objects past the cache.
func (w *Written) Outdated(ctx context.Context, c client.Client, obj client.Object) (bool, error) {
	if w == nil || !w.behind(obj) {
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
	w.Gone(client.ObjectKeyFromObject(obj))
	return false, nil
}

// Gone forgets an object that the cache does not have any more, or has as it is stored.
func (w *Written) Gone(key client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, key)
}

// behind tells whether obj is older than what was last written of it. It is forgotten when it has arrived.
func (w *Written) behind(obj client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := client.ObjectKeyFromObject(obj)
	written, ok := w.versions[key]
	if !ok {
		return false
	}
	if written.ended && written.uid == obj.GetUID() {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), written.resource)
	if err == nil && order < 0 && written.uid == obj.GetUID() {
		return true
	}
	delete(w.versions, key)
	return false
}

// wrote remembers an object as the API server answered a write of it.
func (w *Written) wrote(obj client.Object) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.versions == nil {
		w.versions = map[client.ObjectKey]version{}
	}
	now := time.Now()
	if now.Sub(w.swept) > unread {
		maps.DeleteFunc(w.versions, func(_ client.ObjectKey, written version) bool { return now.Sub(written.at) > unread })
		w.swept = now
	}
	ended := !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0
	w.versions[client.ObjectKeyFromObject(obj)] = version{uid: obj.GetUID(), resource: obj.GetResourceVersion(), ended: ended, at: now}
}
