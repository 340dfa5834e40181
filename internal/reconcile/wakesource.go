package reconcile

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// wakeSource is the event source of one controller. It puts objects into the queue from outside of a reconciliation. The zero value is
// ready to use.
//
// The ARM engine follows operations of Azure and calls an object's wake function when one ends. The call is cheap and never blocks, and
// waking an object twice before it is reconciled equals waking it once. Woken objects precede those that merely changed: an operation
// has ended for them, and the next operation takes the time.
type wakeSource struct {
	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	pending []reconcile.Request
}

// wakeFunc returns the function that wakes the object with this key.
func (s *wakeSource) wakeFunc(key client.ObjectKey) func() {
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

// eventSource returns the source for the controller to watch.
func (s *wakeSource) eventSource() source.Source {
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
