package virtual

import (
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/queue"
)

// exploredQueue is the queue of a controller of which an explorer chooses when each reconciliation begins.
type exploredQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	controller string
	manager    *Manager
}

// Get returns the next object to reconcile.
func (q *exploredQueue) Get() (reconcile.Request, bool) {
	item, shutdown := q.TypedRateLimitingInterface.Get()
	if !shutdown && !q.manager.isDead() {
		q.manager.explorer.await("reconcile "+q.controller+" "+item.Name, reconciliation)
	}
	return item, shutdown
}

// exploreOrder has the explorer of a manager choose the order of reconciliations; without an explorer the options stay as they are.
func (m *Manager) exploreOrder(options controller.Options) controller.Options {
	if m.explorer == nil {
		return options
	}
	inner := options.NewQueue
	if inner == nil {
		inner = queue.New(engine.SystemClock{})
	}
	options.NewQueue = func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return &exploredQueue{TypedRateLimitingInterface: inner(name, limiter), controller: name, manager: m}
	}
	return options
}
