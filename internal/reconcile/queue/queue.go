// Package queue has the work queue of controllers. It hands out requests in the order of controller-runtime's priority queue, with one
// difference: namespaces take turns, so that many objects of one namespace do not keep those of another one waiting.
//
//   - A request is handed out once, however often it is added before that, and not while a worker has it.
//   - Requests of a higher priority go first. Among equal ones the namespace goes first whose turn was longest ago, and within a
//     namespace the request that was ready first.
//   - Every fourth turn belongs to the namespace whose turn was longest ago, whatever the priority of its requests: workers
//     keep the priority of requests that they add again, so a namespace whose requests all have a high one would starve the others.
//
// The queue ends with its workers. controller-runtime v0.24.1 can keep a manager from ending instead: its shutdown releases workers that
// wait while it hands one of them an item, and then it waits for that worker for ever.
// https://github.com/kubernetes-sigs/controller-runtime/blob/v0.24.1/pkg/controller/priorityqueue/priorityqueue.go#L400
//
// Only Get and GetWithPriority block. The memory of the queue is bounded by the requests that are in it or with a worker.
package queue

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
)

// Limiter and Queue are the types of controller.Options.NewQueue.
type (
	Limiter = workqueue.TypedRateLimiter[reconcile.Request]
	Queue   = workqueue.TypedRateLimitingInterface[reconcile.Request]
)

// Clock has the current time and the timers of delayed requests. Tests pass a clock with virtual time.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in its own goroutine once d has passed; stop prevents it if it has not been called yet.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

// New returns a function that makes the queue of a controller, for controller.Options.NewQueue.
func New(clock Clock) func(controller string, limiter Limiter) Queue {
	return func(controller string, limiter Limiter) Queue { return newQueue(controller, limiter, clock) }
}

func newQueue(controller string, limiter Limiter, clock Clock) *queue {
	if limiter == nil {
		limiter = workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()
	}
	q := &queue{clock: clock, limiter: limiter, metrics: metrics.NewQueue(controller), items: map[reconcile.Request]*item{},
		working: map[reconcile.Request]time.Time{}, ready: newTurns(), down: make(chan struct{})}
	q.arrived = sync.NewCond(&q.mu)
	go q.measureWork()
	return q
}

// queue implements priorityqueue.PriorityQueue.
type queue struct {
	clock   Clock
	limiter Limiter
	metrics *metrics.Queue
	// down is closed by the shutdown.
	down chan struct{}

	mu sync.Mutex
	// arrived is signaled when a request can be handed out, and at the shutdown.
	arrived *sync.Cond
	// items are all requests in the queue. Each is in delayed, in ready, or with a worker and added again meanwhile.
	items   map[reconcile.Request]*item
	delayed delayed
	ready   *turns
	// readyCount is how many items are not delayed.
	readyCount int
	// working are the requests that workers have, and since when.
	working map[reconcile.Request]time.Time
	// stopTimer stops the timer that fires when the first delayed item is ready; nil if none ever was.
	stopTimer func() bool
	shut      bool
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &queue{}

// AddWithOpts adds requests. One that is in the queue gets the higher of both priorities, and the earlier time.
func (q *queue) AddWithOpts(o priorityqueue.AddOpts, requests ...reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return
	}
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	for _, request := range requests {
		after := o.After
		if o.RateLimited {
			if limit := q.limiter.When(request); after == 0 || limit < after {
				after = limit
			}
		}
		if after > 0 {
			q.metrics.CountRetry()
		}
		q.addRequest(request, priority, after)
	}
}

// addRequest adds a request. The caller holds mu.
func (q *queue) addRequest(request reconcile.Request, priority int, after time.Duration) {
	it, known := q.items[request]
	if !known {
		it = &item{request: request, priority: priority, position: -1}
		q.items[request] = it
		if after > 0 {
			it.readyAt = q.clock.Now().Add(after)
			heap.Push(&q.delayed, it)
			q.setTimerFor(it)
			return
		}
		q.makeReady(it)
		return
	}
	if it.position < 0 {
		q.raisePriority(it, priority)
		return
	}
	it.priority = max(it.priority, priority)
	if after <= 0 {
		heap.Remove(&q.delayed, it.position)
		q.makeReady(it)
	} else if readyAt := q.clock.Now().Add(after); readyAt.Before(it.readyAt) {
		it.readyAt = readyAt
		heap.Fix(&q.delayed, it.position)
		q.setTimerFor(it)
	}
}

// raisePriority gives a ready item a higher priority. The caller holds mu.
func (q *queue) raisePriority(it *item, priority int) {
	if priority <= it.priority {
		return
	}
	q.metrics.ChangePriority(it.priority, priority)
	placed := it.line != nil
	if placed {
		q.ready.removeItem(it)
	}
	it.priority = priority
	if placed {
		q.ready.pushItem(it)
	}
}

// makeReady puts an item that is no longer delayed into the line of its namespace. If a worker still has its request, Done does so. The
// caller holds mu.
func (q *queue) makeReady(it *item) {
	it.readyAt = q.clock.Now()
	q.readyCount++
	q.metrics.CountReady(it.priority)
	if _, works := q.working[it.request]; !works {
		q.ready.pushItem(it)
		q.arrived.Signal()
	}
}

// setTimerFor sets the timer if it, a delayed item, has become the first one. The caller holds mu.
func (q *queue) setTimerFor(it *item) {
	if it.position == 0 {
		q.setTimer()
	}
}

// setTimer sets the timer for the first delayed item. The caller holds mu.
func (q *queue) setTimer() {
	if len(q.delayed) == 0 {
		return
	}
	if q.stopTimer != nil {
		q.stopTimer()
	}
	q.stopTimer = q.clock.AfterFunc(max(0, q.delayed[0].readyAt.Sub(q.clock.Now())), q.releaseDue)
}

// releaseDue makes the delayed items ready whose time has come.
func (q *queue) releaseDue() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return
	}
	for now := q.clock.Now(); len(q.delayed) > 0 && !q.delayed[0].readyAt.After(now); {
		q.makeReady(heap.Pop(&q.delayed).(*item))
	}
	q.setTimer()
}

// GetWithPriority waits for a request or the shutdown.
func (q *queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.shut && q.ready.isEmpty() {
		q.arrived.Wait()
	}
	if q.shut {
		return reconcile.Request{}, 0, true
	}
	it := q.ready.takeNext()
	now := q.clock.Now()
	delete(q.items, it.request)
	q.readyCount--
	q.working[it.request] = now
	q.metrics.CountHandOut(it.priority, now.Sub(it.readyAt))
	return it.request, it.priority, false
}

// Done ends the work on a request. A request that was added meanwhile becomes ready.
func (q *queue) Done(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	since, works := q.working[request]
	if !works {
		return
	}
	delete(q.working, request)
	q.metrics.ObserveWork(q.clock.Now().Sub(since))
	if it, again := q.items[request]; again && it.position < 0 && !q.shut {
		q.ready.pushItem(it)
		q.arrived.Signal()
	}
}

// ShutDown ends each worker after its current request.
func (q *queue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return
	}
	q.shut = true
	close(q.down)
	if q.stopTimer != nil {
		q.stopTimer()
	}
	q.arrived.Broadcast()
}

// ShutDownWithDrain is ShutDown: controllers wait for their workers themselves.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown implements workqueue.TypedInterface, as do the following.
func (q *queue) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.shut
}

// Len returns how many requests are ready.
func (q *queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.readyCount
}

func (q *queue) Get() (request reconcile.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

func (q *queue) Add(request reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }

func (q *queue) AddAfter(request reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, request)
}

func (q *queue) AddRateLimited(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, request)
}

func (q *queue) Forget(request reconcile.Request) { q.limiter.Forget(request) }

func (q *queue) NumRequeues(request reconcile.Request) int { return q.limiter.NumRequeues(request) }
