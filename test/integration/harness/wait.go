package harness

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		s.T.Fatalf("%T %s still exists: %v:\n%s", object, name, err, explainState(object, nil, s.Azure.RequestsSince(0)))
	}
}

// unasked is the interval at which an object is read that does not change: wanted may depend on other things, too.
const unasked = 500 * time.Millisecond

// followObject reads object after each of its changes until done, which gets the error of the read. It returns the error of the
// last read, and an error when the stage's patience ends. Most of a test's time is waiting, and a read costs the API server more
// than a watch event.
func (s *Stage) followObject(object client.Object, name string, done func(read error) bool) (last, err error) {
	ctx, cancel := s.withPatience()
	defer cancel()
	var changes <-chan struct{}
	if !s.virtual {
		changes = s.watchChanges(ctx, object, name)
	}
	ticker := time.NewTicker(unasked)
	defer ticker.Stop()
	for {
		s.actMeanwhile()
		read := s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, object)
		if ctx.Err() == nil || !errors.Is(read, ctx.Err()) {
			last = read // object keeps the content of the last completed read
		}
		if done(read) {
			return last, nil
		}
		select {
		case <-changes:
		case <-ticker.C:
		case <-ctx.Done():
			return last, errors.New("waited for " + s.patience().String())
		}
	}
}

// watchChanges returns a channel that receives a value after changes of the object; changes before it is read are merged. It ends with
// ctx.
func (s *Stage) watchChanges(ctx context.Context, object client.Object, name string) <-chan struct{} {
	s.T.Helper()
	kind, err := apiutil.GVKForObject(object, s.Client.Scheme())
	if err != nil {
		s.T.Fatal(err)
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	watcher, err := s.Client.Watch(ctx, list, client.InNamespace(s.Namespace), client.MatchingFields{metav1.ObjectNameField: name})
	if err != nil {
		s.T.Fatalf("watch %T %s: %v", object, name, err)
	}
	out := make(chan struct{}, 1)
	go func() {
		defer watcher.Stop()
		for range watcher.ResultChan() {
			select {
			case out <- struct{}{}:
			default: // a notification is pending already
			}
		}
	}()
	return out
}
