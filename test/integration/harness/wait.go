package harness

import (
	"context"
	"errors"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// WaitFor reads object whenever it changes until it is as wanted, and returns it. what describes the wanted state in words.
func WaitFor[T client.Object](s *Stage, object T, name, what string, wanted func(T) bool) T {
	s.T.Helper()
	if last, err := s.followObject(object, name, func(read error) bool { return read == nil && wanted(object) }); err != nil {
		s.T.Fatalf("%T %s is not %s: %v:\n%s", object, name, what, err, explainState(object, last, s.Azure.RequestsSince(0)))
	}
	return object
}

// WaitGone waits until the object does not exist any more.
func (s *Stage) WaitGone(object client.Object, name string) {
	s.T.Helper()
	if _, err := s.followObject(object, name, func(read error) bool { return read != nil && client.IgnoreNotFound(read) == nil }); err != nil {
		s.T.Fatalf("%T %s is still there: %v:\n%s", object, name, err, explainState(object, nil, s.Azure.RequestsSince(0)))
	}
}

// unasked is the interval at which an object is read that does not change: wanted may depend on other things, too.
const unasked = 500 * time.Millisecond

// followObject reads object, and follows its changes until done, which gets the error of the read. It returns the last error, and another one when
// the stage's patience ends. Most of a test's time is waiting, and a read costs the API server more than an event of a watch.
func (s *Stage) followObject(object client.Object, name string, done func(read error) bool) (last, err error) {
	s.T.Helper()
	ctx, cancel := s.withPatience()
	defer cancel()
	read := func() bool {
		s.actMeanwhile()
		got := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, object)
		if ctx.Err() == nil || !errors.Is(got, ctx.Err()) {
			last = got // object keeps the content of the last completed read
		}
		return done(got)
	}
	if read() {
		return last, nil
	}
	var changes <-chan client.Object
	if !s.virtual {
		changes = s.watchChanges(ctx, object, name)
	}
	ticker := time.NewTicker(unasked)
	defer ticker.Stop()
	for {
		select {
		case changed := <-changes:
			if changed == nil {
				if read() {
					return last, nil
				}
				continue
			}
			s.actMeanwhile()
			last = nil
			reflect.ValueOf(object).Elem().Set(reflect.ValueOf(changed).Elem())
			if done(nil) {
				return last, nil
			}
		case <-ticker.C:
			if read() {
				return last, nil
			}
		case <-ctx.Done():
			return last, errors.New("waited for " + s.patience().String())
		}
	}
}

// watchChanges returns a channel that receives the latest state of the object after changes, and at the beginning; nil if it was deleted. It ends
// with ctx.
func (s *Stage) watchChanges(ctx context.Context, object client.Object, name string) <-chan client.Object {
	s.T.Helper()
	list, err := s.newList(object)
	if err != nil {
		s.T.Fatal(err)
	}
	watcher, err := s.Client.Watch(ctx, list, client.InNamespace(s.Namespace), client.MatchingFields{metav1.ObjectNameField: name})
	if err != nil {
		s.T.Fatalf("watch %T %s: %v", object, name, err)
	}
	out := make(chan client.Object, 1)
	go func() {
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			changed, isObject := event.Object.(client.Object)
			switch {
			case event.Type == watch.Deleted:
				changed = nil
			case !isObject:
				continue // an error: what comes later is read
			}
			select {
			case <-out: // a newer state replaces one that is pending
			default:
			}
			out <- changed
		}
	}()
	return out
}

// newList returns an empty list of the kind of object.
func (s *Stage) newList(object client.Object) (client.ObjectList, error) {
	kind, err := apiutil.GVKForObject(object, s.Client.Scheme())
	if err != nil {
		return nil, err
	}
	kind.Kind += "List"
	switch object.(type) {
	case *metav1.PartialObjectMetadata:
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		return list, nil
	case runtime.Unstructured:
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		return list, nil
	}
	list, err := s.Client.Scheme().New(kind)
	if err != nil {
		return nil, err
	}
	return list.(client.ObjectList), nil
}
