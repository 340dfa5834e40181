package plan_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// hotPath is work that the manager repeats for every object, and an upper bound of its allocations, about a twentieth
// above the measured number. A change that needs fewer allocations lowers the bound.
type hotPath struct {
	most int
	do   func(t testing.TB) func()
}

var hotPaths = map[string]hotPath{
	"reconciliation of a stable machine": {315, newStableMachine},
	"plan of a cluster":                  {6630, newPlannedCluster},
	"resync of a machine":                {5300, newResyncedMachine},
	"comparison of a VM":                 {985, newComparedVM},
	"list of 100 VMs":                    {205, newListedVMs},
}

// TestAllocations checks that the hot paths stay within their bounds.
func TestAllocations(t *testing.T) {
	for name, path := range hotPaths {
		t.Run(name, func(t *testing.T) {
			do := path.do(t)
			do()
			if got := int(testing.AllocsPerRun(5, do)); got > path.most {
				t.Errorf("%d allocations, at most %d are expected", got, path.most)
			} else {
				t.Logf("%d allocations", got)
			}
		})
	}
}

// BenchmarkHotPaths measures the hot paths in bytes and time, too.
//
//	go test ./internal/plan -run '^$' -bench HotPaths -benchmem
func BenchmarkHotPaths(b *testing.B) {
	for name, path := range hotPaths {
		b.Run(name, func(b *testing.B) {
			do := path.do(b)
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// newStableMachine returns the computations for a machine before the reconciler knows that nothing is to do: maxima and
// fingerprint.
func newStableMachine(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	return func() {
		if len(maxima.FindExceeded("AzureMachine", in.AzureMachine))+len(maxima.FindExceeded("AzureCluster", in.AzureCluster)) > 0 {
			t.Fatal("a maximum is exceeded")
		}
		if _, err := stable.ComputeFingerprint(in.Cluster.Spec, in.AzureCluster.Spec, in.Machine.Spec, in.Machine.Labels, in.AzureMachine.Spec,
			in.AzureMachine.Annotations); err != nil {
			t.Fatal(err)
		}
	}
}

// newPlannedCluster returns a function that plans a cluster in place and compares the plan with the last applied one.
func newPlannedCluster(t testing.TB) func() {
	in := readInput(t, "default").ClusterInput
	first, err := cluster.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	applied.Content{Applied: cluster.LastApplied(in).PathsBefore(first)}.Store(in.AzureCluster)
	return func() {
		graph, err := cluster.BuildPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		lastApplied := cluster.LastApplied(in).ForFinalPlan(graph)
		lastApplied.PathsBefore(graph)
		lastApplied.ListPruned(graph)
		lastApplied.PathsAfter(graph, arm.Outcome{})
	}
}

// newResyncedMachine returns a function that reconciles a machine without differences. Azure's answers are in the cache.
func newResyncedMachine(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	graph, err := machine.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[string]json.RawMessage{}
	for _, node := range graph.Nodes() {
		raw, err := json.Marshal(node.Body)
		if err != nil {
			t.Fatal(err)
		}
		bodies[node.ID.Key()] = raw
	}
	asked := 0
	c := newFakeClient(t, func(path string) string {
		asked++
		if body := bodies[arm.ID(path).Key()]; len(body) > 2 {
			return `{"id":"` + path + `","name":"` + path[strings.LastIndex(path, "/")+1:] + `",` + string(body[1:])
		}
		return `{"value":[]}`
	})
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := engine.New(engine.Options{Clock: fixedClock(clock)})
	tag := "sigs.k8s.io_cluster-api-provider-azure_cluster_" + in.Cluster.Name
	converge := func() arm.Outcome {
		graph, err := machine.BuildPlan(in)
		if err != nil {
			t.Fatal(err)
		}
		lastApplied := machine.LastApplied(in).ForFinalPlan(graph)
		lastApplied.PathsBefore(graph)
		outcome, err := e.Converge(context.Background(), engine.Request{
			Object: "AzureMachine/default/m", Client: c, Owner: engine.Owner{TagKey: tag, TagValue: "owned"}, Graph: graph,
			Prune: lastApplied.ListPruned(graph),
		})
		if err != nil {
			t.Fatal(err)
		}
		lastApplied.PathsAfter(graph, outcome)
		return outcome
	}
	if outcome := converge(); !outcome.IsDone() {
		t.Fatalf("not done: %v", outcome.RootCauses())
	}
	before := asked
	return func() {
		converge()
		if asked > before {
			t.Fatalf("%d requests were sent", asked-before)
		}
	}
}

// newComparedVM returns a comparison of the body of a VM with the body that Azure shows.
func newComparedVM(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	graph, err := machine.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	node := graph.Node(plan.VMID(in))
	row, err := types.ForID(node.ID)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(node.Body)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		want, err := arm.DecodeBody(node.Body)
		if err != nil {
			t.Fatal(err)
		}
		have, err := arm.DecodeBody(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if found := compare.Diff(compare.Desired{Type: row, Body: want}, have); len(found) > 0 {
			t.Fatal(found)
		}
	}
}

// newListedVMs reads a page.
func newListedVMs(t testing.TB) func() {
	vm := `{"name":"vm","location":"eastus","properties":{"hardwareProfile":{"vmSize":"Standard_D2s_v3"},"provisioningState":"Succeeded","vmId":"` + strings.Repeat("0", 3000) + `"}}`
	page := `{"value":[` + strings.Repeat(vm+",", 99) + vm + `]}`
	c := newFakeClient(t, func(string) string { return page })
	return func() {
		items, err := c.List(context.Background(), "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines", "2025-04-01",
			nil)
		if err != nil || len(items) != 100 {
			t.Fatal(len(items), err)
		}
	}
}

// newFakeClient returns a client of an Azure that answers with a body for a path.
func newFakeClient(t testing.TB, body func(path string) string) *client.Client {
	t.Helper()
	c, err := client.New(credential.Token("t"), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: "https://azure.example", Audience: "https://management.core.windows.net/"}}},
		client.Options{Principal: "p", Transport: fakeTransport(body)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type fakeTransport func(path string) string

func (a fakeTransport) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: request,
		Body: io.NopCloser(strings.NewReader(a(request.URL.Path)))}, nil
}

// fixedClock is a clock that does.
type fixedClock time.Time

func (s fixedClock) Now() time.Time { return time.Time(s) }

func (fixedClock) AfterFunc(time.Duration, func()) func() bool { return func() bool { return true } }
