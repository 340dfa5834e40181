package queue

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// workers process items of a queue as a controller's do, are done when all have left, and ask somebody to shut it down after so
// many items.
func workers(queue priorityqueue.PriorityQueue[int], count, items int) *sync.WaitGroup {
	var left sync.WaitGroup
	var done atomic.Int32
	for range count {
		left.Go(func() {
			for {
				key, _, shutdown := queue.GetWithPriority()
				if shutdown {
					return
				}
				queue.AddWithOpts(priorityqueue.AddOpts{}, key+1000)
				queue.Done(key)
				if int(done.Add(1)) == items {
					go queue.ShutDown()
				}
			}
		})
	}
	return &left
}

// TestShutDown shuts queues down in the middle of work, two hundred times: each has its workers leave.
func TestShutDown(t *testing.T) {
	t.Parallel()
	for round := range 200 {
		queue := ending(priorityqueue.New[int]("test"))
		left := workers(queue, 10, round+1)
		for key := range 20 {
			queue.Add(key)
		}
		gone := make(chan struct{})
		go func() {
			left.Wait()
			close(gone)
		}()
		select {
		case <-gone:
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d: workers are there 10 s after the shutdown", round)
		}
		if key, _, shutdown := queue.GetWithPriority(); !shutdown {
			t.Errorf("round %d: hands out %d after the shutdown", round, key)
		}
	}
}

// TestOrder hands out what has the highest priority first, and an item that is being worked on not again before it is done.
func TestOrder(t *testing.T) {
	t.Parallel()
	queue := ending(priorityqueue.New[int]("test"))
	defer queue.ShutDown()
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(-100)}, 1)
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(10)}, 2)
	queue.Add(3)
	for _, want := range []int{2, 3, 1} {
		got, shutdown := queue.Get()
		if got != want || shutdown {
			t.Errorf("got %d (%t), want %d", got, shutdown, want)
		}
	}
	queue.Add(2)
	queue.Add(4)
	if got, _ := queue.Get(); got != 4 {
		t.Errorf("got %d, want 4: 2 is being worked on", got)
	}
	queue.Done(2)
	if got, _ := queue.Get(); got != 2 {
		t.Errorf("got %d, want 2, which is done and was added again", got)
	}
}

// TestShutDownWhileWorking lets a worker finish, and ends the queue within after it.
func TestShutDownWhileWorking(t *testing.T) {
	t.Parallel()
	inner := priorityqueue.New[int]("test")
	queue := ending(inner)
	queue.Add(1)
	key, shutdown := queue.Get()
	if shutdown {
		t.Fatal("is shut down from the start")
	}
	queue.ShutDown()
	if !queue.ShuttingDown() || inner.ShuttingDown() {
		t.Errorf("shutting down: %t, within %t while a worker has an item", queue.ShuttingDown(), inner.ShuttingDown())
	}
	queue.Done(key)
	if !inner.ShuttingDown() {
		t.Error("the queue within goes on after the last worker")
	}
	queue.ShutDownWithDrain()
}
