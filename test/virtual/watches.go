package virtual

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
)

// watches are the watches of a manager, by kind. The controllers of a manager start at the same time, which the informers of
// controller-runtime's tests do not support: a handler may be lost.
type watches struct {
	*informertest.FakeInformers

	mu sync.Mutex
	of map[watchedKind]*watch
}

// watchedKind is the kind of watched objects. metadataOnly is set if the handlers get their metadata as PartialObjectMetadata.
type watchedKind struct {
	schema.GroupVersionKind
	metadataOnly bool
}

// watch has the handlers of one kind.
type watch struct {
	*controllertest.FakeInformer
	metadataOnly bool

	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
}

// GetInformer returns the watch of the kind of an object.
func (w *watches) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	kind, err := apiutil.GVKForObject(object, w.Scheme)
	if err != nil {
		return nil, err
	}
	_, metadataOnly := object.(*metav1.PartialObjectMetadata)
	return w.watchOf(watchedKind{kind, metadataOnly}), nil
}

// GetInformerForKind returns the watch of a kind.
func (w *watches) GetInformerForKind(_ context.Context, kind schema.GroupVersionKind, _ ...cache.InformerGetOption) (cache.Informer,
	error) {
	return w.watchOf(watchedKind{GroupVersionKind: kind}), nil
}

func (w *watches) watchOf(kind watchedKind) *watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[watchedKind]*watch{}
	}
	if w.of[kind] == nil {
		w.of[kind] = &watch{FakeInformer: controllertest.NewFakeInformer(controllertest.Synced), metadataOnly: kind.metadataOnly}
	}
	return w.of[kind]
}

// AddEventHandler adds a handler that is called with changes.
func (w *watch) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handlers = append(w.handlers, handler)
	return w.FakeInformer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{}) // Only it makes registrations.
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: there is no resync.
func (w *watch) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler,
	_ time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return w.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler.
func (w *watch) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler,
	_ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	return w.AddEventHandler(handler)
}

// callHandlers calls the handlers of all watches of a kind with a change.
func (w *watches) callHandlers(kind schema.GroupVersionKind, c change) {
	for _, metadataOnly := range []bool{false, true} {
		w.watchOf(watchedKind{kind, metadataOnly}).callHandlers(c)
	}
}

// callHandlers calls all handlers with a change. A handler may request other objects meanwhile.
func (w *watch) callHandlers(c change) {
	w.mu.Lock()
	handlers := slices.Clone(w.handlers)
	w.mu.Unlock()
	if w.metadataOnly {
		c.before, c.after = metadataOf(c.before), metadataOf(c.after)
	}
	for _, handler := range handlers {
		switch {
		case c.before != nil && c.after != nil:
			handler.OnUpdate(c.before, c.after)
		case c.after != nil:
			handler.OnAdd(c.after, false)
		case c.before != nil:
			handler.OnDelete(c.before)
		}
	}
}

// metadataOf returns the metadata of an object, as a watch of metadata delivers it.
func metadataOf(object client.Object) client.Object {
	if object == nil {
		return nil
	}
	out := meta.AsPartialObjectMetadata(object)
	out.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	return out
}
