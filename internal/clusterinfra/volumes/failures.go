package volumes

import (
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Failures are the last errors by the object whose deletion met them. The end of each request wakes the object, which must not send the request
// again before its time. The zero value is empty. It is safe for concurrent use.
type Failures struct {
	mu sync.Mutex
	of map[string]failure
}

type failure struct {
	cause error
	// wait tells that the deletion waits for the end of the error. Otherwise warning is told and it goes on.
	wait    bool
	warning string
	until   time.Time
}

// asResult is what Deletion.Tag returns.
func (f failure) asResult() (warning string, err error) {
	if f.wait {
		return "", reconcile.ReadFailed(f.cause)
	}
	return f.warning, nil
}

// lastFailure is the error of an object that may not send its request again yet.
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

// Forget is for an object that is gone.
func (f *Failures) Forget(object string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, object)
}
