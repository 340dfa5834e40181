package queue

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// systemClock is the real time, or that of a synctest bubble.
type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) AfterFunc(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }

func newRequest(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}

// takeRequests hands out so many requests without giving one back.
func takeRequests(t *testing.T, q *queue, count int) (names []string) {
	t.Helper()
	for range count {
		if q.ready.isEmpty() {
			t.Fatalf("nothing is ready after %q", names)
		}
		got, _ := q.Get()
		names = append(names, got.Namespace+"/"+got.Name)
	}
	return names
}

func TestOrder(t *testing.T) {
	type added struct {
		priority int
		request  reconcile.Request
	}
	tests := map[string]struct {
		reason string
		add    []added
		want   []string
	}{
		"one namespace": {"without another namespace it is the order of controller-runtime's queue",
			[]added{{-100, newRequest("a", "1")}, {10, newRequest("a", "2")}, {0, newRequest("a", "3")}, {0, newRequest("a", "4")},
				{10, newRequest("a", "5")}},
			[]string{"a/2", "a/5", "a/3", "a/4", "a/1"}},
		"turns": {"namespaces take turns, and a namespace that comes last is not last",
			[]added{{0, newRequest("a", "1")}, {0, newRequest("a", "2")}, {0, newRequest("a", "3")}, {0, newRequest("b", "1")},
				{0, newRequest("b", "2")},
				{0, newRequest("c", "1")}},
			[]string{"a/1", "b/1", "c/1", "a/2", "b/2", "a/3"}},
		"priorities of two": {"a higher priority goes before the turn of another namespace",
			[]added{{-100, newRequest("a", "1")}, {0, newRequest("b", "1")}, {1, newRequest("a", "2")}},
			[]string{"a/2", "b/1", "a/1"}},
		"patience": {"a namespace with low priority gets every fourth turn",
			[]added{{-100, newRequest("b", "1")}, {1, newRequest("a", "1")}, {1, newRequest("a", "2")}, {1, newRequest("a", "3")},
				{1, newRequest("a", "4")},
				{1, newRequest("a", "5")}},
			[]string{"a/1", "a/2", "a/3", "b/1", "a/4", "a/5"}},
		"patience in a namespace": {"within a namespace priorities hold always",
			[]added{{-100, newRequest("a", "0")}, {1, newRequest("a", "1")}, {1, newRequest("a", "2")}, {1, newRequest("a", "3")},
				{1, newRequest("a", "4")},
				{1, newRequest("a", "5")}},
			[]string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/0"}},
		"added twice": {"it is handed out once, with the higher priority",
			[]added{{0, newRequest("a", "1")}, {0, newRequest("a", "2")}, {0, newRequest("a", "1")}, {1, newRequest("a", "2")},
				{-100, newRequest("a", "2")}},
			[]string{"a/2", "a/1"}},
		"without namespace": {"requests of objects without namespace are of one namespace",
			[]added{{0, newRequest("", "1")}, {0, newRequest("", "2")}, {0, newRequest("a", "1")}},
			[]string{"/1", "a/1", "/2"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			q := newQueue("test", nil, systemClock{})
			defer q.ShutDown()
			for _, each := range test.add {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &each.priority}, each.request)
			}
			if diff := cmp.Diff(test.want, takeRequests(t, q, len(test.want))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if !q.ready.isEmpty() || len(q.items) != 0 || len(q.ready.namespaces) != 0 || q.ready.order.Len() != 0 || q.Len() != 0 {
				t.Error("the queue keeps data of requests that it handed out")
			}
		})
	}
}

// TestRequestAddedWhileWorkingIsHandedOutAgain adds a request that a worker has: it is handed out again after that, with its priority.
func TestRequestAddedWhileWorkingIsHandedOutAgain(t *testing.T) {
	q := newQueue("test", nil, systemClock{})
	defer q.ShutDown()
	q.Add(newRequest("a", "1"))
	q.Add(newRequest("a", "2"))
	takeRequests(t, q, 1)
	q.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, newRequest("a", "1"))
	if diff := cmp.Diff([]string{"a/2"}, takeRequests(t, q, 1)); diff != "" {
		t.Error(diff)
	}
	if !q.ready.isEmpty() || q.Len() != 1 {
		t.Errorf("%d are in the queue, want the one that a worker has", q.Len())
	}
	q.AddWithOpts(priorityqueue.AddOpts{Priority: new(2)}, newRequest("a", "1"))
	q.Done(newRequest("a", "1"))
	if got, priority, _ := q.GetWithPriority(); got != newRequest("a", "1") || priority != 2 {
		t.Errorf("got %s with priority %d", got, priority)
	}
}

// TestDelays hands requests out at their times.
func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue("test", nil, systemClock{})
		defer q.ShutDown()
		begun := time.Now()
		q.AddAfter(newRequest("a", "late"), time.Hour)
		q.AddAfter(newRequest("a", "middle"), time.Minute)
		q.AddAfter(newRequest("a", "earlier"), time.Hour)
		q.AddAfter(newRequest("a", "earlier"), time.Second)
		q.AddAfter(newRequest("a", "earlier"), 2*time.Hour)
		q.AddAfter(newRequest("a", "now"), time.Hour)
		q.Add(newRequest("a", "now"))
		q.AddAfter(newRequest("a", "now"), time.Hour)
		q.AddWithOpts(priorityqueue.AddOpts{After: time.Hour, RateLimited: true}, newRequest("a", "limited"))
		if q.Len() != 1 {
			t.Errorf("%d are ready, want 1", q.Len())
		}
		var got []string
		for range 5 {
			next, _ := q.Get()
			got = append(got, fmt.Sprint(next.Name, " ", time.Since(begun)))
			q.Done(next)
		}
		want := []string{"now 0s", "limited 5ms", "earlier 1s", "middle 1m0s", "late 1h0m0s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if q.NumRequeues(newRequest("a", "limited")) != 1 {
			t.Error("the limiter does not count")
		}
		q.Forget(newRequest("a", "limited"))
		if q.NumRequeues(newRequest("a", "limited")) != 0 {
			t.Error("the limiter does not forget")
		}
	})
}

// movedClock is a clock that a test moves past its only timer.
type movedClock struct {
	now   time.Time
	timer func()
}

func (c *movedClock) Now() time.Time { return c.now }

func (c *movedClock) AfterFunc(_ time.Duration, f func()) func() bool {
	c.timer = f
	return func() bool { return true }
}

// TestClock hands a delayed request out when the clock of the queue has reached its time.
func TestClock(t *testing.T) {
	clock := &movedClock{now: time.Unix(0, 0)}
	q := newQueue("test", nil, clock)
	defer q.ShutDown()
	q.AddAfter(newRequest("a", "1"), time.Hour)
	for _, want := range []int{0, 1} {
		clock.now = clock.now.Add(30 * time.Minute)
		clock.timer()
		if q.Len() != want {
			t.Errorf("at %s %d are ready, want %d", clock.now, q.Len(), want)
		}
	}
}

// TestEveryNamespaceHasTurns lets one namespace add each of its requests again at once, with a high priority; it expects that every other
// namespace gets turns.
func TestEveryNamespaceHasTurns(t *testing.T) {
	q := newQueue("test", nil, systemClock{})
	defer q.ShutDown()
	for i := range 238 {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, newRequest("many", fmt.Sprint(i)))
	}
	for i := range 5 {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(-100)}, newRequest(fmt.Sprint("few-", i), "one"))
	}
	turns := map[string]int{}
	for range 100 {
		got, priority, _ := q.GetWithPriority()
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, got)
		q.Done(got)
		turns[got.Namespace]++
	}
	for i := range 5 {
		if got := turns[fmt.Sprint("few-", i)]; got < 3 {
			t.Errorf("namespace %d has %d of 100 turns: %v", i, got, turns)
		}
	}
}

// TestAllocations compares the memory for a request that is added, handed out and done with that of controller-runtime's queue, to which
// workers came through a goroutine each time before; it expects no more.
func TestAllocations(t *testing.T) {
	cost := func(q priorityqueue.PriorityQueue[reconcile.Request]) float64 {
		defer q.ShutDown()
		for i := range 238 {
			q.AddAfter(newRequest("many", fmt.Sprint(i)), time.Hour)
			q.Add(newRequest("few", fmt.Sprint(i)))
		}
		return testing.AllocsPerRun(1000, func() {
			got, _ := q.Get()
			q.Add(got)
			q.Done(got)
		})
	}
	ours, theirs := cost(newQueue("test", nil, systemClock{})), cost(priorityqueue.New[reconcile.Request]("test"))
	t.Logf("%.0f allocations, controller-runtime's queue %.0f", ours, theirs)
	if ours > 2*theirs+4 {
		t.Errorf("%.0f allocations, controller-runtime's queue %.0f", ours, theirs)
	}
}

// startWorkers process requests as a controller's do, are done when all have left, and have the queue shut down after so many requests.
func startWorkers(q *queue, count, requests int) *sync.WaitGroup {
	var left sync.WaitGroup
	var done atomic.Int32
	for range count {
		left.Go(func() {
			for {
				got, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Add(newRequest(got.Namespace, got.Name+"+"))
				q.Done(got)
				if int(done.Add(1)) == requests {
					go q.ShutDown()
				}
			}
		})
	}
	return &left
}

// TestShutDown shuts queues down in the middle of work, two hundred times: each has its workers leave.
func TestShutDown(t *testing.T) {
	for round := range 200 {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue("test", nil, systemClock{})
			left := startWorkers(q, 10, round+1)
			for i := range 20 {
				q.Add(newRequest("a", fmt.Sprint(i)))
				q.AddAfter(newRequest("b", fmt.Sprint(i)), time.Hour)
			}
			left.Wait()
			if got, _, shutdown := q.GetWithPriority(); !shutdown {
				t.Errorf("round %d: hands out %s after the shutdown", round, got)
			}
			q.ShutDownWithDrain()
			q.Add(newRequest("a", "late"))
			if _, late := q.items[newRequest("a", "late")]; late || !q.ShuttingDown() {
				t.Errorf("round %d: takes requests after the shutdown", round)
			}
		})
	}
}

// TestShutDownWhileWorking lets a worker finish.
func TestShutDownWhileWorking(t *testing.T) {
	q := newQueue("test", nil, systemClock{})
	q.Add(newRequest("a", "1"))
	got, _ := q.Get()
	q.ShutDown()
	q.Done(got)
	if _, shutdown := q.Get(); !shutdown || len(q.working) != 0 {
		t.Error("continues after the shutdown")
	}
}

// TestMetrics counts in the metrics of controller-runtime what happens to a request.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue("measured", nil, systemClock{})
		defer q.ShutDown()
		q.AddAfter(newRequest("a", "1"), time.Minute)
		q.Add(newRequest("a", "1"))
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, newRequest("a", "1"))
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(1)}, newRequest("a", "2"))
		<-time.After(time.Second)
		got, _ := q.Get()
		<-time.After(time.Minute + time.Millisecond)
		synctest.Wait()
		want := map[string]float64{"workqueue_adds_total": 2, "workqueue_retries_total": 1, "workqueue_depth 0": 0, "workqueue_depth 1": 1,
			"workqueue_queue_duration_seconds": 1, "workqueue_work_duration_seconds": 0, "workqueue_unfinished_work_seconds": 60,
			"workqueue_longest_running_processor_seconds": 60}
		if diff := cmp.Diff(want, readMetrics(t)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		q.Done(got)
		if got := readMetrics(t)["workqueue_work_duration_seconds"]; got < 60 || got > 61 {
			t.Errorf("the work took %f s", got)
		}
	})
}

// readMetrics returns the metrics of the queue "measured" with their priority, of histograms the sums.
func readMetrics(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["name"] != "measured" {
				continue
			}
			name := strings.TrimSpace(family.GetName() + " " + labels["priority"])
			out[name] = metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetHistogram().GetSampleSum()
		}
	}
	return out
}
