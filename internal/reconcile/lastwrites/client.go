package lastwrites

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is a client that records its writes of objects that it reads from a cache. It is safe for concurrent use.
type Client struct {
	client.Client
	uncached []reflect.Type
	now      func() time.Time

	mu        sync.Mutex
	written   map[objectRef]write
	writtenBy map[Request]map[objectRef]bool
	lastSweep time.Time
	// running are the reconciliations that have begun and not ended.
	running map[Request]bool
}

// NewClient returns a client that records the writes of c. Objects of the types of uncached are read from the API server, and are not
// recorded. now is the clock.
func NewClient(c client.Client, now func() time.Time, uncached ...client.Object) *Client {
	out := &Client{Client: c, now: now, written: map[objectRef]write{}, writtenBy: map[Request]map[objectRef]bool{},
		running: map[Request]bool{}}
	for _, object := range append(uncached, &v1.PartialObjectMetadata{}) {
		out.uncached = append(out.uncached, reflect.TypeOf(object))
	}
	return out
}

// Request is the object that a controller reconciles.
type Request struct {
	Kind string
	client.ObjectKey
}

type requestKey struct{}

// objectRef names an object.
type objectRef struct {
	kind schema.GroupVersionKind
	key  client.ObjectKey
}

// write is the last write of an object.
type write struct {
	uid             types.UID
	resourceVersion string
	// deleted is set after a DELETE. The object remains while it has finalizers.
	deleted bool
	// removed is set if the write removed the last finalizer of an object that is being deleted.
	removed bool
	// isUnsure is set if the answer does not show whether the API server carried out the write. The other fields but the times are then empty.
	isUnsure bool
	// at is the time of the write, and askAt the time from which on the API server is asked about the object.
	at, askAt time.Time
}

// retention is how long a write is remembered of an object that no controller reads again. No cache lags that long.
const retention = time.Hour

// Create implements client.Writer.
func (c *Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	err := c.Client.Create(ctx, obj, opts...)
	c.record(ctx, obj, false, err)
	return err
}

// Update implements client.Writer.
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	err := c.Client.Update(ctx, obj, opts...)
	c.record(ctx, obj, false, err)
	return err
}

// Patch implements client.Writer.
func (c *Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := c.Client.Patch(ctx, obj, patch, opts...)
	c.record(ctx, obj, false, err)
	return err
}

// Delete implements client.Writer.
func (c *Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	err := c.Client.Delete(ctx, obj, opts...)
	if obj.GetUID() != "" {
		c.record(ctx, obj, true, err)
	}
	return err
}

// Status implements client.StatusClient.
func (c *Client) Status() client.StatusWriter {
	return &statusWriter{StatusWriter: c.Client.Status(), client: c}
}

// statusWriter records writes of statuses.
type statusWriter struct {
	client.StatusWriter
	client *Client
}

// Update implements client.SubResourceWriter.
func (s *statusWriter) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	err := s.StatusWriter.Update(ctx, obj, opts...)
	s.client.record(ctx, obj, false, err)
	return err
}

// Patch implements client.SubResourceWriter.
func (s *statusWriter) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	err := s.StatusWriter.Patch(ctx, obj, patch, opts...)
	s.client.record(ctx, obj, false, err)
	return err
}

// record remembers the API server's response to a write, and the request of ctx whose reconciliation wrote it. A refused write changed
// nothing.
func (c *Client) record(ctx context.Context, obj client.Object, deleted bool, err error) {
	ref, ok := c.refOf(obj)
	if !ok || isRefused(err) || ref.key.Name == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.sweep(now)
	last, known := c.written[ref]
	this := write{uid: obj.GetUID(), resourceVersion: obj.GetResourceVersion(), at: now, askAt: now.Add(askAfter), deleted: deleted,
		removed: !obj.GetDeletionTimestamp().IsZero() && len(obj.GetFinalizers()) == 0}
	if err != nil {
		this = write{isUnsure: true, at: now, askAt: now}
	}
	// Two controllers may write an object at the same time, and record it in another order.
	if !known || last.uid != this.uid || deleted || !isOlder(this.resourceVersion, last.resourceVersion) {
		c.written[ref] = this
	}
	if request, ok := ctx.Value(requestKey{}).(Request); ok {
		if c.writtenBy[request] == nil {
			c.writtenBy[request] = map[objectRef]bool{}
		}
		c.writtenBy[request][ref] = true
	}
}

// isRefused reports whether an error proves that the API server did not carry out a write: it answered that the request is at fault. A
// write that ends with another error, as of a connection, may be stored: etcd reports a timeout also after it has stored a value.
func isRefused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	// 408 is a timeout.
	return code >= 400 && code < 500 && code != 408
}

// refOf names an object, and returns false for an object that no cache has.
func (c *Client) refOf(obj client.Object) (objectRef, bool) {
	if _, unstructured := obj.(runtime.Unstructured); unstructured {
		return objectRef{}, false
	}
	for _, each := range c.uncached {
		if reflect.TypeOf(obj) == each {
			return objectRef{}, false
		}
	}
	kind, err := c.GroupVersionKindFor(obj)
	return objectRef{kind, client.ObjectKeyFromObject(obj)}, err == nil
}

// sweep forgets old writes from time to time.
func (c *Client) sweep(now time.Time) {
	if now.Sub(c.lastSweep) <= retention {
		return
	}
	c.lastSweep = now
	maps.DeleteFunc(c.written, func(_ objectRef, w write) bool { return now.Sub(w.at) > retention })
	for request, refs := range c.writtenBy {
		maps.DeleteFunc(refs, func(ref objectRef, _ bool) bool { _, known := c.written[ref]; return !known })
		if len(refs) == 0 {
			delete(c.writtenBy, request)
		}
	}
}

// isOlder reports whether resource version a is older than b. Versions that cannot be compared are not.
func isOlder(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
