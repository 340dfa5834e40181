package virtual

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lastwrites"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var (
	errKilled   = errors.New("the manager was killed")
	errConflict = errors.New("the object has been modified")
	errServer   = errors.New("etcdserver: request timed out")
)

// Manager is some controllers with all that they need. What they do can be counted, and they can be killed at any of it.
type Manager struct {
	// Manager is nil: only the methods below are called.
	ctrlmanager.Manager

	// Services, Facts, Engine and Gate are shared by the controllers.
	Services reconcile.Services
	Facts    *facts.Facts
	Engine   *engine.Engine
	Gate     *access.Opener
	// Features are the feature gates.
	Features plan.Features
	// Killed is closed when the manager dies.
	Killed <-chan struct{}

	client client.Client
	reads  *metrics.Reads
	cache  cache.Cache
	log    logr.Logger
	added  []ctrlmanager.Runnable

	cancel context.CancelFunc
	// stopped is called once when the manager was stopped.
	stopped func()
	// deaf ends the manager's view, so that it gets no more events.
	deaf   func()
	ended  sync.WaitGroup
	killed chan struct{}

	// explorer chooses when the manager's requests are carried out; nil is at once.
	explorer *Explorer

	mu   sync.Mutex
	dead bool
	// acts counts requests to Azure and writes to Kubernetes. At number killAt, 0 for none, the manager dies: before that request or
	// write is done, or before the manager gets its answer.
	acts, killAt int
	before       bool
	// kubernetes are the writes to Kubernetes.
	kubernetes []string
	// writes has only writes to Azure count for killAt.
	writes bool
}

// StartManager starts a manager with the controllers that register registers. It is stopped when the test ends.
func (s *Scenario) StartManager(register func(ctx context.Context, m *Manager) error) *Manager {
	s.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := &Manager{cancel: cancel, killed: make(chan struct{}), Features: s.Features}
	m.Killed = m.killed
	m.explorer = s.explorer
	number := s.recording.numberManager()
	view := s.Kubernetes.openView(s.Lag, s.explorer)
	live := m.newLiveClient(s)
	m.client = lastwrites.NewClient(s.newCachedClient(live, view), time.Now, &corev1.Secret{}, &corev1.ConfigMap{})
	m.cache, m.deaf = view.informers, func() { s.Kubernetes.closeView(view) }
	m.prepareServices(s, live, m.newTransport(s, number))
	if err := register(ctx, m); err != nil {
		s.T.Fatal(err)
	}
	s.plans.start()
	m.stopped = s.plans.stop
	for _, runnable := range append(m.added, m.Engine) {
		m.ended.Go(func() { _ = runnable.Start(ctx) })
	}
	s.T.Cleanup(func() {
		s.plans.finish()
		s.plans.flush()
		m.StopManager()
		// Nothing waits for requests that several reconciliations share. The time of a bubble stops with its test, so they end before that.
		WaitForSignal(nil, time.Minute)
	})
	// All watches have begun when everything waits.
	m.explorer.waitForOthers()
	if err := s.Kubernetes.deliverAll(ctx); err != nil {
		s.T.Fatal(err)
	}
	return m
}

// prepareServices creates the engine, the gate to Azure, the facts and the services, which all controllers of the manager use.
func (m *Manager) prepareServices(s *Scenario, live client.Client, transport transport) {
	share := s.RequestShare
	if share == 0 {
		share = 1
	}
	hooks := engine.Hooks{}
	clients := armclient.Options{Version: "test", Transport: transport, Budgets: armclient.NewBudgets(time.Now, share)}
	if s.Metrics {
		hooks, clients.OnRequestEnd = metrics.Work{}.EngineHooks(), metrics.Work{}.CountRequest
		m.watchMetrics(clients.Budgets)
	}
	m.Engine = engine.New(engine.Options{Jitter: func() float64 { return 0.5 }, MaxConfirmedAge: s.Full,
		Hooks: hooks.WithTracer(s.Tracer)})
	if s.Metrics {
		metrics.WatchOperations(m.Engine.OperationAges)
	}
	m.Gate = &access.Opener{
		Client: m.client, APIReader: live,
		Identities: identity.New(m.client,
			identity.Options{AuthorityHost: harness.VirtualEndpoint, ResourceManagerEndpoint: harness.VirtualEndpoint,
				ResourceManagerAudience: "https://management.core.windows.net/", Transport: transport, Secrets: live,
				SubscriptionID: cmp.Or(s.DefaultSubscription, s.Azure.SubscriptionID)}),
		Clients: identity.NewClients(clients),
	}
	m.log = s.newLogger()
	var recorded events.EventRecorder = recorder{s}
	if s.Recorder != nil {
		recorded = s.Recorder
	}
	m.Services = reconcile.Services{Client: m.client, Engine: m.Engine, Access: m.Gate, Now: time.Now, Resync: s.Resync, Observe: s.Observe,
		Tracer: s.Tracer, Reads: m.reads,
		Recorder: func(string) events.EventRecorder { return recorded }}
	m.Facts = facts.New(facts.Options{Read: facts.ReadThrough(m.Engine), Unchanged: facts.UnchangedIn(m.Engine), TTL: s.Resync})
	m.Services.Facts = m.Facts
}

// StopManager stops the manager.
func (m *Manager) StopManager() {
	m.deaf()
	m.cancel()
	m.ended.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped != nil {
		m.stopped()
		m.stopped = nil
	}
}

// KillIn has the manager die at its nth act from now, and not at all for 0.
func (m *Manager) KillIn(n int, before bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.killAt, m.before = m.acts+n, before
}

// DieAtWrite ends the manager at its nth write to Azure, and not at all for 0.
func (m *Manager) DieAtWrite(n int, before bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes, m.acts, m.killAt, m.before = true, 0, n, before
}

// CountCalls returns how much the manager has done.
func (m *Manager) CountCalls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acts
}

// writeUnlessDead writes to Kubernetes, unless the manager is dead.
func (m *Manager) writeUnlessDead(s *Scenario, verb string, object client.Object, do func() error) error {
	name := fmt.Sprintf("%s %T %s", verb, object, object.GetName())
	return m.countAndRun(s.newKubernetesCall(verb, object, name, func() error {
		m.mu.Lock()
		m.kubernetes = append(m.kubernetes, name)
		m.mu.Unlock()
		return do()
	}))
}

// KubernetesWrites returns the requests that changed something in Kubernetes, as "patch status *v1beta1.AzureCluster c1". Events are left out.
func (m *Manager) KubernetesWrites() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kubernetes)
}

// countAndRun carries out a request when the explorer chooses it, unless the manager is dead. The explorer makes no choice about the requests
// of dead managers: their order depends on which of the events that come with the death their goroutines see first.
func (m *Manager) countAndRun(c call) error {
	if m.isDead() {
		return errKilled
	}
	chosen := m.explorer.await(c.name, c.kind)
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return errKilled
	}
	killed := chosen == KilledBefore || chosen == KilledAfter
	if killed {
		m.acts, m.killAt, m.before = 0, 1, chosen == KilledBefore
	}
	// Only writes to Azure count for managers that die at one.
	if m.writes && !killed && c.kind < azureWrite {
		m.mu.Unlock()
		return c.do()
	}
	m.acts++
	last := m.acts == m.killAt
	if m.dead = last; last {
		close(m.killed)
	}
	m.mu.Unlock()
	if killed || chosen == LeaseLost || chosen == AnswerLost {
		m.explorer.meet(chosen)
	}
	if last && m.before {
		return errKilled
	}
	var err error
	switch chosen {
	case "", AnswerLost, LeaseLost, KilledAfter:
		err = c.do()
	default:
		err = c.disturb(chosen)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	if chosen == AnswerLost {
		return errAnswerLost
	}
	return err
}

func (m *Manager) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// readBody reads the body of a request, which can be read again.
func readBody(request *http.Request) ([]byte, error) {
	if request.Body == nil || request.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(request.Body)
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// transport is a policy.Transporter and a http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

// Do implements policy.Transporter.
func (t transport) Do(request *http.Request) (*http.Response, error) { return t(request) }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) { return t(request) }

// Add implements manager.Manager, as do the following.
func (m *Manager) Add(runnable ctrlmanager.Runnable) error {
	m.added = append(m.added, runnable)
	return nil
}

func (m *Manager) GetClient() client.Client       { return m.client }
func (m *Manager) GetCache() cache.Cache          { return m.cache }
func (m *Manager) GetScheme() *runtime.Scheme     { return m.client.Scheme() }
func (m *Manager) GetRESTMapper() meta.RESTMapper { return m.client.RESTMapper() }
func (m *Manager) GetLogger() logr.Logger         { return m.log }

// GetControllerOptions implements manager.Manager. The priority queue of controller-runtime 0.24 waits for ever when it is shut down
// while it hands something out: it has counted on who has left meanwhile. A bubble waits for it.
func (m *Manager) GetControllerOptions() config.Controller {
	return config.Controller{UsePriorityQueue: new(false)}
}
