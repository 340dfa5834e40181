package engine_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

const sub = server.DefaultSubscription

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	owner = engine.Owner{TagKey: "sigs.k8s.io_cluster-api-provider-azure_cluster_c1", TagValue: "owned"}
)

// world is a simulated Azure on a virtual clock, and an engine that uses it over HTTP.
type world struct {
	t      *testing.T
	sim    *server.Server
	clock  *clock
	client *client.Client
	engine *engine.Engine

	cloud   cloud.Configuration
	options client.Options

	mu    sync.Mutex
	woken bool
	seen  int // number of requests that earlier assertions have covered
}

func newWorld(t *testing.T) *world {
	t.Helper()
	virtual := store.NewVirtual(epoch)
	past := &history{now: virtual.Now}
	sim, err := server.New(server.Options{Clock: virtual, TimeScale: 1, Seed: 7, Committed: past.addChanges})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewUnstartedServer(sim.Handler())
	// Requests that a test leaves behind are cut off, which needs no log.
	listener.Config.ErrorLog = log.New(io.Discard, "", 0)
	listener.StartTLS()
	past.Transporter = listener.Client()
	t.Cleanup(func() {
		listener.Close()
		past.check(t)
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, sim: sim, clock: &clock{sim: sim, virtual: virtual}}
	w.cloud = cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: listener.URL, Audience: "https://management.core.windows.net/"}}}
	w.options = client.Options{Principal: "p", Transport: &requestLimit{Transporter: past, now: virtual.Now}, Now: virtual.Now}
	w.client, err = client.New(credential.Token(sim.Token("")), w.cloud, w.options)
	if err != nil {
		t.Fatal(err)
	}
	w.restartEngine()
	return w
}

// requestLimit ends a test that sends requests in a loop without a pause: on a virtual clock the loop would not end.
type requestLimit struct {
	policy.Transporter
	now func() time.Time

	mu    sync.Mutex
	at    time.Time
	count int
}

func (i *requestLimit) Do(request *http.Request) (*http.Response, error) {
	i.mu.Lock()
	if now := i.now(); !now.Equal(i.at) {
		i.at, i.count = now, 0
	}
	i.count++
	if i.count > 2000 {
		panic("2000 requests at the same time, the last one is " + request.Method + " " + request.URL.Path)
	}
	i.mu.Unlock()
	return i.Transporter.Do(request)
}

// restartEngine replaces the engine by a new one.
func (w *world) restartEngine() {
	w.clock.dropTimers()
	w.engine = engine.New(engine.Options{Clock: w.clock, Jitter: func() float64 { return 0 }})
}

func (w *world) wakeObject() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = true
}

func (w *world) takeWake() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	woken := w.woken
	w.woken = false
	return woken
}

// newRequest returns a request with nodes for cluster c1.
func (w *world) newRequest(nodes ...arm.Node) engine.Request {
	graph := &arm.Graph{}
	graph.Add(nodes...)
	return engine.Request{Object: "AzureCluster/default/c1", Client: w.client, Owner: owner, Graph: graph, Wake: w.wakeObject}
}

// convergeOnce calls Converge once.
func (w *world) convergeOnce(request engine.Request) arm.Outcome {
	w.t.Helper()
	w.takeWake()
	outcome, err := w.engine.Converge(context.Background(), request)
	if err != nil {
		w.t.Fatal(err)
	}
	return outcome
}

// advanceClock advances time until the object is woken, at most for d.
func (w *world) advanceClock(d time.Duration) {
	until := w.clock.Now().Add(d)
	for !w.takeWake() && w.clock.Now().Before(until) {
		w.clock.stepTo(until)
	}
}

// convergeUntilDone repeats Converge as a controller would, until the outcome is done or limit is over. It keeps the inventory in between.
func (w *world) convergeUntilDone(request engine.Request, limit time.Duration) arm.Outcome {
	w.t.Helper()
	return w.convergeUntil(request, limit, arm.Outcome.IsDone)
}

// convergeUntil is converge with another condition.
func (w *world) convergeUntil(request engine.Request, limit time.Duration, end func(arm.Outcome) bool) arm.Outcome {
	w.t.Helper()
	deadline := w.clock.Now().Add(limit)
	for {
		outcome := w.convergeOnce(request)
		request.Inventory = outcome.Inventory
		if end(outcome) || !w.clock.Now().Before(deadline) {
			return outcome
		}
		if outcome.RetryAfter == 0 {
			w.t.Fatalf("not done, and RetryAfter is 0: %+v", outcome.RootCauses())
		}
		w.advanceClock(outcome.RetryAfter)
		request.BypassCache = false
	}
}

func (w *world) deleteUntilDone(request engine.Request, limit time.Duration) arm.Outcome {
	w.t.Helper()
	deadline := w.clock.Now().Add(limit)
	for {
		w.takeWake()
		outcome, err := w.engine.Delete(context.Background(), request)
		if err != nil {
			w.t.Fatal(err)
		}
		request.Inventory = outcome.Inventory
		if outcome.IsDeleted() || !w.clock.Now().Before(deadline) {
			return outcome
		}
		if outcome.RetryAfter == 0 {
			w.t.Fatalf("not deleted, and RetryAfter is 0: %+v", outcome.Results)
		}
		w.advanceClock(outcome.RetryAfter)
	}
}

// listRequests returns the requests since the last call, as "METHOD tail", without the common beginning of IDs.
func (w *world) listRequests() (writes, reads []string) {
	all := w.sim.Requests()
	for _, record := range all[w.seen:] {
		path, _, _ := strings.Cut(record.URL, "?")
		if strings.Contains(path, "/operations/") || strings.Contains(path, "operationresults") ||
			strings.Contains(path, "OperationStatuses") || strings.Contains(path, "/operationResults/") {
			continue
		}
		if strings.Contains(record.URL, "forceDeletion=true") {
			path += "?forceDeletion=true"
		}
		for _, prefix := range []string{"/subscriptions/" + sub + "/resourceGroups/", "/subscriptions/" + sub} {
			path = strings.TrimPrefix(path, prefix)
		}
		path = strings.ReplaceAll(path, "/providers/Microsoft.Network/", " ")
		path = strings.ReplaceAll(path, "/providers/Microsoft.Compute/", " ")
		line := record.Method + " " + path
		if record.Method == http.MethodGet {
			reads = append(reads, line)
		} else {
			writes = append(writes, line)
		}
	}
	w.seen = len(all)
	return writes, reads
}

// listWrites returns the writes since the last call, in the order of their answers.
func (w *world) listWrites() []string {
	writes, _ := w.listRequests()
	return writes
}

func (w *world) addFault(rule fault.Rule) {
	w.t.Helper()
	if err := w.sim.AddFault(rule); err != nil {
		w.t.Fatal(err)
	}
}

// clock is the engine's clock on the simulator's virtual one. It runs timers one at a time, to their end.
type clock struct {
	sim     *server.Server
	virtual *store.Virtual

	mu     sync.Mutex
	timers []*timer
}

type timer struct {
	at time.Time
	f  func()
}

func (c *clock) Now() time.Time { return c.virtual.Now() }

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	added := &timer{at: c.virtual.Now().Add(d), f: f}
	c.timers = append(c.timers, added)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.timers, added)
		if i >= 0 {
			c.timers = slices.Delete(c.timers, i, i+1)
		}
		return i >= 0
	}
}

func (c *clock) dropTimers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = nil
}

// stepTo advances time to the next timer and runs it, or to until.
func (c *clock) stepTo(until time.Time) {
	c.mu.Lock()
	var next *timer
	for _, candidate := range c.timers {
		if next == nil || candidate.at.Before(next.at) {
			next = candidate
		}
	}
	if next == nil || next.at.After(until) {
		c.mu.Unlock()
		c.sim.Advance(until.Sub(c.Now()))
		return
	}
	c.timers = slices.DeleteFunc(c.timers, func(t *timer) bool { return t == next })
	c.mu.Unlock()
	c.sim.Advance(max(0, next.at.Sub(c.Now())))
	next.f()
}

// putResource writes a resource as another client would, and waits for it.
func (w *world) putResource(id arm.ID, body object) {
	w.t.Helper()
	row, err := types.ForID(id)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.client.Put(context.Background(), id, row.APIVersion, body, ""); err != nil {
		w.t.Fatal(err)
	}
	w.sim.Settle()
	w.listRequests()
}

// getResource reads a resource as another client would; nil if it does not exist.
func (w *world) getResource(id arm.ID) object {
	w.t.Helper()
	row, err := types.ForID(id)
	if err != nil {
		w.t.Fatal(err)
	}
	response, err := w.client.Get(context.Background(), id, row.APIVersion, nil)
	if arm.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var body object
	if err := json.Unmarshal(response.Body, &body); err != nil {
		w.t.Fatal(err)
	}
	w.listRequests()
	return body
}

// worldWith returns a world with nodes in place, and no requests since.
func worldWith(t *testing.T, nodes ...arm.Node) (*world, engine.Request) {
	t.Helper()
	w := newWorld(t)
	request := w.newRequest(nodes...)
	outcome := w.convergeUntilDone(request, 10*time.Minute)
	if !outcome.IsDone() {
		t.Fatalf("not done: %+v", outcome.RootCauses())
	}
	request.Inventory = outcome.Inventory
	w.listRequests()
	request.BypassCache = true
	return w, request
}

// limitRequests applies budgets to the requests of the world.
func (w *world) limitRequests(budgets *client.Budgets) {
	w.t.Helper()
	w.options.Budgets = budgets
	limited, err := client.New(credential.Token(w.sim.Token("")), w.cloud, w.options)
	if err != nil {
		w.t.Fatal(err)
	}
	w.client = limited
}
