package patch

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Written remembers what was written of objects until it is read again: caches lag behind, and a pass over an object from
// before the last pass would do that one's work once more, and undo what it said. The zero value is usable, and nil
// remembers nothing. It is safe for concurrent use.
type Written struct {
	mu       sync.Mutex
	versions map[types.UID]string
}

// Outdated tells whether obj was read before what was last written of it had arrived in the cache. The event of its
// arrival is still to come.
func (w *Written) Outdated(obj client.Object) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	version, ok := w.versions[obj.GetUID()]
	if !ok {
		return false
	}
	if order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), version); err == nil && order < 0 {
		return true
	}
	delete(w.versions, obj.GetUID())
	return false
}

// wrote remembers an object as the API server answered a write of it. One that the write has ended is not read again.
func (w *Written) wrote(obj client.Object) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0 {
		delete(w.versions, obj.GetUID())
		return
	}
	if w.versions == nil {
		w.versions = map[types.UID]string{}
	}
	w.versions[obj.GetUID()] = obj.GetResourceVersion()
}
