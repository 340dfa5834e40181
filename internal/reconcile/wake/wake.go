// Package wake puts objects into the queue of their controller from outside of a reconciliation.
//
// The ARM engine follows operations of Azure and calls an object's wake function when one ends. The call is cheap and never blocks, and
// waking an object twice before it is reconciled equals waking it once. Woken objects precede those that merely changed: an operation
// has ended for them, and the next operation is what takes time.
package wake

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Source is the event source of one controller. The zero value is ready to use.
type Source struct {
	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	pending []reconcile.Request
}

// WakeFunc returns the function that wakes the object with this key.
func (s *Source) WakeFunc(key client.ObjectKey) func() {
	request := reconcile.Request{NamespacedName: key}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.queue == nil {
			s.pending = append(s.pending, request)
			return
		}
		enqueueFirst(s.queue, request)
	}
}

// enqueueFirst adds a request ahead of those of other sources, which have priority 0 or less.
func enqueueFirst(queue workqueue.TypedRateLimitingInterface[reconcile.Request], request reconcile.Request) {
	if ordered, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		ordered.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, request)
		return
	}
	queue.Add(request)
}

// EventSource returns the source for the controller to watch.
func (s *Source) EventSource() source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.queue = queue
		for _, request := range s.pending {
			enqueueFirst(queue, request)
		}
		s.pending = nil
		return nil
	})
}
