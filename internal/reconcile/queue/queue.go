// Package queue has controllers' work queues end with their workers. The priority queue of controller-runtime v0.24.1 can keep a
// manager from ending: its shutdown releases workers that wait while it hands one of them an item, and then it waits for that
// worker for ever, with the lock that others need to give their items back. The manager is held until its grace period is over,
// and with it the lease that the next leader waits for.
// https://github.com/kubernetes-sigs/controller-runtime/blob/v0.24.1/pkg/controller/priorityqueue/priorityqueue.go#L400
package queue

import (
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Limiter and Queue are what controller-runtime asks for and gets, for requests.
type (
	Limiter = workqueue.TypedRateLimiter[reconcile.Request]
	Queue   = workqueue.TypedRateLimitingInterface[reconcile.Request]
)

// New is a controller's priority queue, as controller.Options.NewQueue wants it. Items keep their order and priority.
func New(log logr.Logger) func(controller string, limiter Limiter) Queue {
	return func(controller string, limiter Limiter) Queue {
		return ending[reconcile.Request](priorityqueue.New(controller, func(o *priorityqueue.Opts[reconcile.Request]) {
			o.Log = log.WithValues("controller", controller)
			o.RateLimiter = limiter
		}))
	}
}

func ending[T comparable](inner priorityqueue.PriorityQueue[T]) *queue[T] {
	return &queue[T]{PriorityQueue: inner, down: make(chan struct{})}
}

// queue shuts the queue within it down when no worker has an item any more. Until then somebody takes what it hands out.
type queue[T comparable] struct {
	priorityqueue.PriorityQueue[T]
	// down is closed when workers shall leave.
	down chan struct{}

	mu sync.Mutex
	// shut is set when down is closed, over when the queue within is shut down too.
	shut, over bool
	// out is how many items workers have.
	out int
}

// item is what a worker gets.
type item[T comparable] struct {
	key      T
	priority int
}

// GetWithPriority waits for an item or the shutdown.
func (q *queue[T]) GetWithPriority() (key T, priority int, shutdown bool) {
	if q.ShuttingDown() {
		return key, 0, true
	}
	handed := make(chan item[T], 1)
	go func() {
		key, priority, _ := q.PriorityQueue.GetWithPriority()
		handed <- item[T]{key, priority}
	}()
	select {
	case <-q.down:
		return key, 0, true
	case got := <-handed:
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.shut {
			return key, 0, true
		}
		q.out++
		return got.key, got.priority, false
	}
}

// Get implements workqueue.TypedInterface.
func (q *queue[T]) Get() (key T, shutdown bool) {
	key, _, shutdown = q.GetWithPriority()
	return key, shutdown
}

// Done gives an item back.
func (q *queue[T]) Done(key T) {
	q.PriorityQueue.Done(key)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out--
	q.end()
}

// ShutDown has workers leave, each once its item is done.
func (q *queue[T]) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.shut {
		q.shut = true
		close(q.down)
	}
	q.end()
}

// ShutDownWithDrain is ShutDown: controllers wait for their workers themselves.
func (q *queue[T]) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown implements workqueue.TypedInterface.
func (q *queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shut
}

// end shuts the queue within down when nobody needs it. mu is held.
func (q *queue[T]) end() {
	if q.shut && !q.over && q.out == 0 {
		q.over = true
		q.PriorityQueue.ShutDown()
	}
}
