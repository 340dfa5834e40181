package volumes

import (
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Failures has the last error of each object's deletion. The end of each request wakes the object, which must not repeat the request
// before its retry is due. The zero value is empty. It is safe for concurrent use.
type Failures struct {
	mu sync.Mutex
	of map[string]failure
}

type failure struct {
	cause error
	// wait makes the deletion wait until the error is over. Otherwise the deletion continues with a warning.
	wait    bool
	warning string
	until   time.Time
}

// asResult returns the result of Deletion.TagVolumes.
func (f failure) asResult() (warning string, err error) {
	if f.wait {
		return "", reconcile.ReadFailed(f.cause)
	}
	return f.warning, nil
}

// lastFailure returns the error of an object whose retry is not due yet.
func (f *Failures) lastFailure(object string) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.of[object]
	return found, ok && time.Now().Before(found.until)
}

func (f *Failures) storeFailure(object string, found failure) {
	_, after := status.ProblemCondition("", found.cause)
	found.until = time.Now().Add(after)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]failure{}
	}
	f.of[object] = found
}

// Forget drops an object that is gone.
func (f *Failures) Forget(object string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, object)
}
