package rollout_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinepool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/pass"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"

	"encoding/json"
)

var errKilled = errors.New("the manager was killed")

// manager is the controller of pools with all that it needs. What it does can be counted, and it can be killed at any of it.
type manager struct {
	// Manager is nil: what is not below is not used.
	ctrlmanager.Manager

	client client.Client
	cache  cache.Cache
	added  []ctrlmanager.Runnable
	engine *engine.Engine
	gate   *access.Gate

	cancel context.CancelFunc
	ended  sync.WaitGroup
	killed chan struct{}

	mu   sync.Mutex
	dead bool
	// acts counts requests to Azure and writes to Kubernetes. At number killAt, 0 for none, the manager dies: before what it
	// asks for is done, or before it hears that it is.
	acts, killAt int
	before       bool
	// writes has only writes to Azure count for killAt.
	writes bool
}

// start starts a manager. It is stopped when the test ends.
func (w *world) start() *manager {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m := &manager{cancel: cancel, killed: make(chan struct{})}
	m.client = interceptor.NewClient(w.kubernetes, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			return m.act(func() error { return c.Create(ctx, obj, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			return m.act(func() error { return c.Patch(ctx, obj, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			return m.act(func() error {
				w.rules.givenUp(ctx, obj)
				return c.Delete(ctx, obj, options...)
			})
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, _ string, obj client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return m.act(func() error { return c.Status().Patch(ctx, obj, patch, options...) })
		},
	})
	informers, err := w.kubernetes.inform(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	m.cache = informers
	transport := transport(func(request *http.Request) (response *http.Response, err error) {
		err = m.request(request, func() error {
			response, err = w.azure(request)
			return err
		})
		return response, err
	})
	m.engine = engine.New(engine.Options{Jitter: func() float64 { return 0.5 }})
	m.gate = &access.Gate{
		Kubernetes: m.client, Fresh: m.client,
		Identities: identity.New(m.client, identity.Options{AuthorityHost: endpoint, ResourceManagerEndpoint: endpoint, ResourceManagerAudience: "https://management.core.windows.net/", Transport: transport}),
		Clients:    identity.NewClients(armclient.Options{Version: "test", Transport: transport, Budgets: armclient.NewBudgets(time.Now)}),
	}
	services := pass.Services{Client: m.client, Engine: m.engine, Access: m.gate, Resync: w.resync, Recorder: func(string) events.EventRecorder { return &events.FakeRecorder{} }}
	read := func(ctx context.Context, c *armclient.Client, id arm.ID) (json.RawMessage, error) {
		observed, err := m.engine.Observe(ctx, c, []arm.ID{id}, false)
		return observed[id.Key()].Body, errors.Join(err, observed[id.Key()].Err)
	}
	kind := &azuremachinepool.Kind{Client: m.client, Engine: m.engine, Facts: facts.New(facts.Options{Read: read, TTL: w.resync})}
	if err := pass.New(services, kind).SetupWithManager(ctx, m, controller.Options{SkipNameValidation: new(true)}); err != nil {
		w.t.Fatal(err)
	}
	for _, runnable := range append(m.added, m.engine) {
		m.ended.Go(func() { _ = runnable.Start(ctx) })
	}
	w.t.Cleanup(m.stop)
	// All watches are there when everything waits.
	synctest.Wait()
	pools := &infrav1.AzureMachinePoolList{}
	if err := w.kubernetes.List(ctx, pools); err != nil {
		w.t.Fatal(err)
	}
	for i := range pools.Items {
		w.kubernetes.tell(ctx, nil, false, &pools.Items[i], true)
	}
	return m
}

func (m *manager) stop() {
	m.cancel()
	m.ended.Wait()
}

// killIn has the manager die at its nth act from now, and not at all for 0.
func (m *manager) killIn(n int, before bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.killAt, m.before = m.acts+n, before
}

// dieAtWrite has the manager die at its nth write to Azure, and not at all for 0.
func (m *manager) dieAtWrite(n int, before bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes, m.acts, m.killAt, m.before = true, 0, n, before
}

// counted is how much the manager has done.
func (m *manager) counted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.acts
}

// act does something outside, unless the manager is dead.
func (m *manager) act(do func() error) error { return m.do(false, do) }

// request is act for a request to Azure.
func (m *manager) request(request *http.Request, do func() error) error {
	return m.do(request.Method != http.MethodGet && strings.HasPrefix(request.URL.Path, "/subscriptions/"), do)
}

func (m *manager) do(write bool, do func() error) error {
	m.mu.Lock()
	if m.dead {
		m.mu.Unlock()
		return errKilled
	}
	if m.writes && !write {
		m.mu.Unlock()
		return do()
	}
	m.acts++
	last := m.acts == m.killAt
	if m.dead = last; last {
		close(m.killed)
	}
	m.mu.Unlock()
	if last && m.before {
		return errKilled
	}
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	return err
}

// transport is a policy.Transporter.
type transport func(*http.Request) (*http.Response, error)

// Do implements policy.Transporter.
func (t transport) Do(request *http.Request) (*http.Response, error) { return t(request) }

// Add implements manager.Manager, as do the following.
func (m *manager) Add(runnable ctrlmanager.Runnable) error {
	m.added = append(m.added, runnable)
	return nil
}

func (m *manager) GetClient() client.Client                { return m.client }
func (m *manager) GetCache() cache.Cache                   { return m.cache }
func (m *manager) GetScheme() *runtime.Scheme              { return m.client.Scheme() }
func (m *manager) GetLogger() logr.Logger                  { return logr.Discard() }
func (m *manager) GetControllerOptions() config.Controller { return config.Controller{} }

func short(path string) string { return path[strings.LastIndex(path, "/")+1:] }
