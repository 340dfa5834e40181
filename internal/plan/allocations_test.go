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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stable"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// hot is what the manager does again and again for every object, and how many allocations it takes at most: about a twentieth more
// than it does. Who has it take fewer lowers the number.
type hot struct {
	most int
	do   func(t testing.TB) func()
}

var hotPaths = map[string]hot{
	"pass over a settled machine": {315, settledMachine},
	"plan of a cluster":           {6630, plannedCluster},
	"resync of a machine":         {5300, resyncedMachine},
	"comparison of a VM":          {985, comparedVM},
	"list of 100 VMs":             {205, listedVMs},
}

// TestAllocations holds the hot paths to what they take.
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

// BenchmarkHotPaths says what they take, in bytes and time, too.
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

// settledMachine is what a pass works out of a machine before it knows that there is nothing to do: that no maximum is exceeded, and
// the fingerprint.
func settledMachine(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	return func() {
		if len(maxima.Exceeded("AzureMachine", in.AzureMachine))+len(maxima.Exceeded("AzureCluster", in.AzureCluster)) > 0 {
			t.Fatal("a maximum is exceeded")
		}
		if _, err := stable.ComputeFingerprint(in.Cluster.Spec, in.AzureCluster.Spec, in.Machine.Spec, in.Machine.Labels, in.AzureMachine.Spec, in.AzureMachine.Annotations); err != nil {
			t.Fatal(err)
		}
	}
}

// plannedCluster is a plan with all that is asked of the memory in a pass in which everything is in place.
func plannedCluster(t testing.TB) func() {
	in := readInput(t, "default").ClusterInput
	first, err := cluster.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	in.AzureCluster.Annotations = cluster.Memory(in).Remember(first)
	return func() {
		graph, err := cluster.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		memory := cluster.Memory(in).For(graph)
		memory.Remember(graph)
		memory.Prune(graph)
		memory.Settled(graph, arm.Outcome{})
	}
}

// resyncedMachine is a pass over a machine that is as it should be, with Azure's answers read already.
func resyncedMachine(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	graph, err := machine.Plan(in)
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
	c := answering(t, func(path string) string {
		asked++
		if body := bodies[arm.ID(path).Key()]; len(body) > 2 {
			return `{"id":"` + path + `","name":"` + path[strings.LastIndex(path, "/")+1:] + `",` + string(body[1:])
		}
		return `{"value":[]}`
	})
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	e := engine.New(engine.Options{Clock: standing(clock)})
	tag := "sigs.k8s.io_cluster-api-provider-azure_cluster_" + in.Cluster.Name
	pass := func() arm.Outcome {
		graph, err := machine.Plan(in)
		if err != nil {
			t.Fatal(err)
		}
		memory := machine.Memory(in).For(graph)
		memory.Remember(graph)
		outcome, err := e.Converge(context.Background(), engine.Request{
			Object: "AzureMachine/default/m", Client: c, Owner: engine.Owner{TagKey: tag, TagValue: "owned"}, Graph: graph, Prune: memory.Prune(graph),
		})
		if err != nil {
			t.Fatal(err)
		}
		memory.Settled(graph, outcome)
		return outcome
	}
	if outcome := pass(); !outcome.IsDone() {
		t.Fatalf("not done: %v", outcome.RootCauses())
	}
	before := asked
	return func() {
		pass()
		if asked > before {
			t.Fatalf("%d requests were sent", asked-before)
		}
	}
}

// comparedVM compares a body with what Azure shows of it.
func comparedVM(t testing.TB) func() {
	in := readInput(t, "machine-disks")
	graph, err := machine.Plan(in)
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

// listedVMs reads a page.
func listedVMs(t testing.TB) func() {
	vm := `{"name":"vm","location":"eastus","properties":{"hardwareProfile":{"vmSize":"Standard_D2s_v3"},"provisioningState":"Succeeded","vmId":"` + strings.Repeat("0", 3000) + `"}}`
	page := `{"value":[` + strings.Repeat(vm+",", 99) + vm + `]}`
	c := answering(t, func(string) string { return page })
	return func() {
		items, err := c.List(context.Background(), "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines", "2025-04-01", nil)
		if err != nil || len(items) != 100 {
			t.Fatal(len(items), err)
		}
	}
}

// answering is a client of an Azure that answers with a body for a path.
func answering(t testing.TB, body func(path string) string) *client.Client {
	t.Helper()
	c, err := client.New(credential.Token("t"), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: "https://azure.example", Audience: "https://management.core.windows.net/"}}},
		client.Options{Principal: "p", Transport: answers(body)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type answers func(path string) string

func (a answers) Do(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: request, Body: io.NopCloser(strings.NewReader(a(request.URL.Path)))}, nil
}

// standing is a clock that does.
type standing time.Time

func (s standing) Now() time.Time { return time.Time(s) }

func (standing) AfterFunc(time.Duration, func()) func() bool { return func() bool { return true } }
