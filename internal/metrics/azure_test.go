package metrics_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

type object = map[string]any

const sub = server.DefaultSubscription

var (
	owner   = engine.Owner{TagKey: "sigs.k8s.io_cluster-api-provider-azure_cluster_c1", TagValue: "owned"}
	group   = arm.ResourceGroupID(sub, "rg")
	network = arm.NewID(sub, "rg", "Microsoft.Network/virtualNetworks", "vnet")
	address = arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "pip")
)

// world is a simulated Azure without latency, and an engine whose metrics the test reads.
type world struct {
	t       *testing.T
	sim     *server.Server
	client  *client.Client
	engine  *engine.Engine
	woken   chan struct{}
	before  map[string]float64
	request engine.Request
}

func newWorld(t *testing.T, budgets *client.Budgets) *world {
	t.Helper()
	sim, err := server.New(server.Options{TimeScale: 0})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewUnstartedServer(sim.Handler())
	listener.Config.ErrorLog = log.New(io.Discard, "", 0)
	listener.StartTLS()
	t.Cleanup(func() {
		listener.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, sim: sim, woken: make(chan struct{}, 1), before: readFigures(t)}
	w.client, err = client.New(credential.Token(sim.Token("")), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: listener.URL, Audience: "https://management.core.windows.net/"}}},
		client.Options{Principal: "p", Transport: listener.Client(), Budgets: budgets, OnRequestEnd: metrics.Work{}.CountRequest})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine.New(engine.Options{Hooks: metrics.Work{}.EngineHooks()})
	metrics.WatchOperations(w.engine.OperationAges)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go func() { _ = w.engine.Start(ctx) }()
	tags := object{owner.TagKey: owner.TagValue}
	graph := &arm.Graph{}
	graph.Add(
		arm.Node{ID: group, Policy: arm.Repair, Body: object{"location": "eastus", "tags": tags}},
		arm.Node{ID: network, Policy: arm.Repair,
			Body: object{"location": "eastus", "tags": tags,
				"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}}},
		arm.Node{ID: address, Policy: arm.Repair, Body: object{"location": "eastus", "tags": tags, "sku": object{"name": "Standard"},
			"properties": object{"publicIPAllocationMethod": "Static", "idleTimeoutInMinutes": 4}}},
	)
	w.request = engine.Request{Object: "o", Client: w.client, Owner: owner, Graph: graph, DeleteWholeGroups: true, Wake: func() {
		select {
		case w.woken <- struct{}{}:
		default:
		}
	}}
	return w
}

func (w *world) addFaults(rules ...fault.Rule) {
	w.t.Helper()
	for _, rule := range rules {
		if err := w.sim.AddFault(rule); err != nil {
			w.t.Fatal(err)
		}
	}
}

// reconcileUntil calls reconcile until end returns true for its outcome.
func (w *world) reconcileUntil(reconcile func(context.Context, engine.Request) (arm.Outcome, error), end func(arm.Outcome) bool) {
	w.t.Helper()
	request := w.request
	request.BypassCache = true
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); request.BypassCache = false {
		outcome, err := reconcile(w.t.Context(), request)
		if err != nil {
			w.t.Fatal(err)
		}
		if end(outcome) {
			return
		}
		select {
		case <-w.woken:
		case <-time.After(min(outcome.RetryAfter, 5*time.Second)):
		}
	}
	w.t.Fatal("it did not end within a minute")
}

// expectMetrics compares by how much figures have grown since the world began.
func (w *world) expectMetrics(reason string, want map[string]float64) {
	w.t.Helper()
	var names []string
	for name := range want {
		names = append(names, name)
	}
	if diff := cmp.Diff(want, figuresSince(w.t, w.before, names...)); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

const (
	ofNetwork = `resource_type="Microsoft.Network/virtualNetworks"`
	ofAddress = `resource_type="Microsoft.Network/publicIPAddresses"`
	ofGroup   = `resource_type="Microsoft.Resources/resourceGroups"`
)

// TestEngineMetrics creates resources, changes them from outside and deletes them, and reads the metrics after each
// step.
func TestEngineMetrics(t *testing.T) {
	w := newWorld(t, nil)
	w.addFaults(
		fault.Rule{Method: "PUT", ID: "*/virtualnetworks/vnet", Kind: fault.Throttle, RetryAfter: 1},
		fault.Rule{Method: "PUT", ID: "*/virtualnetworks/vnet", Kind: fault.Fail, Code: "InternalExecutionError",
			Message: "An internal execution error occurred."},
		fault.Rule{Method: "PUT", ID: address.Key(), Count: -1, Kind: fault.Modify,
			Patch: object{"properties": object{"idleTimeoutInMinutes": 15}}},
	)
	w.reconcileUntil(w.engine.Converge, arm.Outcome.IsDone)
	w.expectMetrics("created, after a throttled request and a failed operation, with a value that Azure normalises", map[string]float64{
		`capz_azure_requests_total{code="201",operation="put",` + ofGroup + `}`:                                1,
		`capz_azure_requests_total{code="429",operation="put",` + ofNetwork + `}`:                              1,
		`capz_azure_requests_total{code="404",operation="get",` + ofGroup + `}`:                                1,
		`capz_azure_requests_throttled_total{operation="put",` + ofNetwork + `}`:                               1,
		`capz_azure_operation_duration_seconds_count{operation="create",` + ofGroup + `,result="succeeded"}`:   1,
		`capz_azure_operation_duration_seconds_count{operation="create",` + ofAddress + `,result="succeeded"}`: 1,
		`capz_azure_operation_duration_seconds_count{operation="create",` + ofNetwork + `,result="failed"}`:    2,
		`capz_azure_operation_duration_seconds_count{operation="update",` + ofNetwork + `,result="succeeded"}`: 1,
		`capz_residuals_total{` + ofAddress + `}`:                                                              1,
		`capz_drift_found_total{` + ofAddress + `}`:                                                            0,
		`capz_drift_found_total{` + ofNetwork + `}`:                                                            0,
		`capz_drift_repaired_total{` + ofNetwork + `}`:                                                         0,
		`capz_azure_operations{operation="create",` + ofNetwork + `}`:                                          0,
	})

	hits := readFigures(t)[`capz_azure_cache_lookups_total{result="hit"}`]
	if _, err := w.engine.Converge(t.Context(), w.request); err != nil {
		t.Fatal(err)
	}
	if got := readFigures(t)[`capz_azure_cache_lookups_total{result="hit"}`] - hits; got != 3 {
		t.Errorf("a reconciliation right after another had %v hits, want one for each of 3 resources", got)
	}

	w.addFaults(fault.Rule{Now: true, ID: string(network), Kind: fault.Edit,
		Patch: object{"properties": object{"addressSpace": object{"addressPrefixes": []any{"172.16.0.0/12"}}}}})
	w.reconcileUntil(w.engine.Converge, arm.Outcome.IsDone)
	w.expectMetrics("changed from outside",
		map[string]float64{`capz_drift_found_total{` + ofNetwork + `}`: 1, `capz_drift_repaired_total{` + ofNetwork + `}`: 1,
			`capz_drift_repeated_total{` + ofNetwork + `}`: 0})
	w.addFaults(fault.Rule{Now: true, ID: string(network), Kind: fault.Remove})
	w.reconcileUntil(w.engine.Converge, arm.Outcome.IsDone)
	w.expectMetrics("removed from outside",
		map[string]float64{`capz_drift_found_total{` + ofNetwork + `}`: 2, `capz_drift_repaired_total{` + ofNetwork + `}`: 2,
			`capz_drift_repeated_total{` + ofNetwork + `}`: 1})

	w.reconcileUntil(w.engine.Delete, arm.Outcome.IsDeleted)
	w.expectMetrics("deleted, which is no drift", map[string]float64{
		`capz_azure_operation_duration_seconds_count{operation="delete",` + ofGroup + `,result="succeeded"}`: 1,
		`capz_drift_found_total{` + ofNetwork + `}`:                                                          2,
		`capz_drift_found_total{` + ofGroup + `}`:                                                            0,
	})
}

// TestRunningOperationIsMeasured shows an operation that does not end, while it does not.
func TestRunningOperationIsMeasured(t *testing.T) {
	w := newWorld(t, nil)
	w.addFaults(fault.Rule{Method: "PUT", ID: "*/virtualnetworks/vnet", Kind: fault.Stuck})
	w.reconcileUntil(w.engine.Converge, func(outcome arm.Outcome) bool {
		result, _ := outcome.Result(network)
		return result.State == arm.Creating
	})
	w.expectMetrics("one write", map[string]float64{`capz_azure_operations{operation="create",` + ofNetwork + `}`: 1})
	first := readFigures(t)[`capz_azure_operation_oldest_age_seconds{operation="create",`+ofNetwork+`}`]
	if later := readFigures(t)[`capz_azure_operation_oldest_age_seconds{operation="create",`+ofNetwork+`}`]; first <= 0 || later <= first {
		t.Errorf("it grows older: %v s, and then %v s", first, later)
	}
}

// TestThrottledRequestsAreCounted sends another request after Azure has answered that there were too many.
func TestThrottledRequestsAreCounted(t *testing.T) {
	w := newWorld(t, client.NewBudgets(nil, 1))
	w.addFaults(fault.Rule{Method: "GET", Kind: fault.Throttle, RetryAfter: 60})
	for range 2 {
		if _, err := w.client.Get(t.Context(), network, "2025-05-01", nil); err == nil {
			t.Fatal("it was answered")
		}
	}
	if _, err := w.client.Do(t.Context(),
		client.Request{Method: http.MethodGet, ID: arm.ID("/subscriptions/" + sub + "/providers/Banana.Split/bananas/b"),
			APIVersion: "1"}); err == nil {
		t.Fatal("it was answered")
	}
	w.expectMetrics("one was sent, one was not, and a type that users invent is no label", map[string]float64{
		`capz_azure_requests_total{code="429",operation="get",` + ofNetwork + `}`:     1,
		`capz_azure_requests_throttled_total{operation="get",` + ofNetwork + `}`:      1,
		`capz_azure_requests_held_back_total{operation="get",` + ofNetwork + `}`:      1,
		`capz_azure_requests_total{code="400",operation="get",resource_type="other"}`: 1,
		`capz_azure_request_duration_seconds_count{operation="get"}`:                  2,
	})
}
