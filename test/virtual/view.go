package virtual

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/trim"
)

// view is the state of the kinds that a manager watches, as the manager sees it. With a lag the manager sees changes and gets their
// events late by at most that time, and several changes of an object in that time are one change, as after a watch that was interrupted
// and lists again.
type view struct {
	informers *watches
	lag       time.Duration
	// explorer chooses when the manager sees a change; nil has it see changes after the lag.
	explorer *Explorer
	scheme   *runtime.Scheme
	// tracker has the objects that the manager sees, and reader reads them.
	tracker testing.ObjectTracker
	reader  client.Reader

	mu      sync.Mutex
	pending []change
	closed  bool
}

// change is a change of an object: its states before and after; nil means that it did not exist, or does not exist any more.
type change struct{ before, after client.Object }

// subject returns the object that a change is about.
func (c change) subject() client.Object {
	if c.after != nil {
		return c.after
	}
	return c.before
}

func newView(scheme *runtime.Scheme, informers *watches, lag time.Duration) *view {
	v := &view{informers: informers, lag: lag, scheme: scheme,
		tracker: testing.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())}
	v.reader = fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(v.tracker).Build()
	return v
}

// isCached reports whether reads of an object, or of a list, return the view's state and not the current state.
func (v *view) isCached(object runtime.Object) bool {
	return (v.lag > 0 || v.explorer != nil) && v.caches(object)
}

// caches reports whether a manager reads the object, or the list, from its cache. Managers read unstructured objects past their caches.
func (v *view) caches(object runtime.Object) bool {
	if _, raw := object.(runtime.Unstructured); raw {
		return false
	}
	kind, err := apiutil.GVKForObject(object, v.scheme)
	return err == nil && slices.ContainsFunc(kubernetes.WatchedKinds(), func(each client.Object) bool {
		of, err := apiutil.GVKForObject(each, v.scheme)
		return err == nil && kind.Group == of.Group && (kind.Kind == of.Kind || kind.Kind == of.Kind+"List")
	})
}

// deliverChange has the manager know of a change, now or later.
func (v *view) deliverChange(ctx context.Context, c change) {
	if _, raw := c.subject().(*unstructured.Unstructured); raw {
		return
	}
	if v.lag == 0 && v.explorer == nil {
		v.callHandlers(c)
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.explorer != nil {
		v.pending = append(v.pending, c)
		v.explorer.add(nameOfEvent(c.subject()), eventCall, func(Disturbance) {
			v.catchUpWith(c.subject())
		})
		return
	}
	if v.pending = append(v.pending, c); len(v.pending) == 1 {
		time.AfterFunc(v.lag, func() { v.catchUp(context.WithoutCancel(ctx)) })
	}
}

// catchUp shows all that has happened, in the order in which it began.
func (v *view) catchUp(ctx context.Context) {
	v.mu.Lock()
	pending, closed := v.pending, v.closed
	v.pending = nil
	v.mu.Unlock()
	if !closed {
		v.showChanges(pending)
	}
}

// showChanges shows changes, those of an object as one.
func (v *view) showChanges(pending []change) {
	type key struct {
		kind schema.GroupVersionKind
		client.ObjectKey
	}
	seen := map[key]*change{}
	var order []key
	for _, c := range pending {
		kind, err := apiutil.GVKForObject(c.subject(), v.scheme)
		if err != nil {
			panic(err)
		}
		k := key{kind, client.ObjectKeyFromObject(c.subject())}
		if first := seen[k]; first != nil {
			first.after = c.after
			continue
		}
		seen[k], order = &c, append(order, k)
	}
	for _, k := range order {
		c := *seen[k]
		if c.before == nil && c.after == nil {
			continue // It came and went.
		}
		v.setCached(k.kind, k.ObjectKey, c.after)
		v.callHandlers(c)
	}
}

// deliverListed delivers an object of the first list. A manager begins when its cache has all of them, so an explorer chooses only when the
// controllers get the event.
func (v *view) deliverListed(ctx context.Context, object client.Object) {
	c := change{after: object}
	if v.explorer == nil {
		v.deliverChange(ctx, c)
		return
	}
	kind, err := apiutil.GVKForObject(object, v.scheme)
	if err != nil {
		panic(err)
	}
	v.mu.Lock()
	v.pending = slices.DeleteFunc(v.pending, func(c change) bool { return isSameObject(c.subject(), object) }) // The list has them.
	v.mu.Unlock()
	v.setCached(kind, client.ObjectKeyFromObject(object), object)
	v.explorer.add(nameOfEvent(object), eventCall, func(Disturbance) { v.callHandlers(c) })
}

func isSameObject(a, b client.Object) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && client.ObjectKeyFromObject(a) == client.ObjectKeyFromObject(b)
}

func nameOfEvent(object client.Object) string {
	return fmt.Sprintf("event of %T %s", object, object.GetName())
}

// catchUpWith shows the changes of one object up to now as one change. The other events of these changes then show nothing.
func (v *view) catchUpWith(object client.Object) {
	isSame := func(c change) bool { return isSameObject(c.subject(), object) }
	v.mu.Lock()
	all := v.pending
	v.pending = slices.DeleteFunc(slices.Clone(all), isSame)
	this := slices.DeleteFunc(slices.Clone(all), func(c change) bool { return !isSame(c) })
	closed := v.closed
	v.mu.Unlock()
	if closed {
		return
	}
	if len(this) > 1 {
		v.explorer.meet(EventsMerged)
	}
	v.showChanges(this)
}

// countStale counts a read of an object from the cache that does not have its last change.
func (v *view) countStale(object client.Object, key client.ObjectKey) {
	v.mu.Lock()
	stale := slices.ContainsFunc(v.pending, func(c change) bool {
		return reflect.TypeOf(c.subject()) == reflect.TypeOf(object) && client.ObjectKeyFromObject(c.subject()) == key
	})
	v.mu.Unlock()
	if stale {
		v.explorer.meet(StaleRead)
	}
}

// setCached makes reads return an object, or that there is none. A changing object always exists, as in a cache.
func (v *view) setCached(kind schema.GroupVersionKind, key client.ObjectKey, object client.Object) {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	var err error
	if object == nil {
		err = v.tracker.Delete(resource, key.Namespace, key.Name)
	} else if err = v.tracker.Update(resource, object.DeepCopyObject(), key.Namespace); apierrors.IsNotFound(err) {
		err = v.tracker.Add(object.DeepCopyObject())
	}
	if client.IgnoreNotFound(err) != nil {
		panic(err)
	}
}

// trim removes the parts of a cached object, or of the objects of a list, that a manager's cache does not have.
func (v *view) trim(object runtime.Object) {
	if !v.caches(object) {
		return
	}
	if !meta.IsListType(object) {
		trim.RemoveUnusedParts(object.(client.Object))
		return
	}
	err := meta.EachListItem(object, func(item runtime.Object) error {
		trim.RemoveUnusedParts(item.(client.Object))
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// trimmedCopy returns a copy of the object as a manager's cache has it.
func (v *view) trimmedCopy(object client.Object) client.Object {
	if object == nil {
		return nil
	}
	out := object.DeepCopyObject().(client.Object)
	v.trim(out)
	return out
}

// callHandlers calls those who watch.
func (v *view) callHandlers(c change) {
	c.before, c.after = v.trimmedCopy(c.before), v.trimmedCopy(c.after)
	if kind, err := apiutil.GVKForObject(c.subject(), v.scheme); err == nil {
		v.informers.callHandlers(kind, c)
	}
}

func (v *view) closeView() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
}
