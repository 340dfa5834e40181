package quiescence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
	"sigs.k8s.io/cluster-api-provider-azure/test/endpoint"
)

// world is a simulated Azure in which operations end at once, and an engine.
type world struct {
	t         *testing.T
	sim       *server.Server
	url       string
	http      *http.Client
	client    *client.Client
	engine    *engine.Engine
	clock     clock
	woken     chan struct{}
	inventory map[string][]arm.ID
	seen      int
}

// clock is the system's with an offset.
type clock struct{ offset atomic.Int64 }

func (c *clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
func (c *clock) advanceBy(d time.Duration) { c.offset.Add(int64(d)) }

// otherSubscription is where images of some cases are.
const otherSubscription = "00000000-0000-0000-0000-000000000002"

func newWorld(t *testing.T, location string) *world {
	t.Helper()
	sim, err := server.New(server.Options{TimeScale: 0, Locations: []string{location},
		Subscriptions: []string{server.DefaultSubscription, otherSubscription},
		Throttle:      &server.Throttle{Reads: 1e6, Writes: 1e6, Deletes: 1e6, ReadsPerSec: 1e6, WritesPerSec: 1e6, DeletesPerSec: 1e6}})
	if err != nil {
		t.Fatal(err)
	}
	listener := endpoint.ListenTLS(sim)
	w := &world{t: t, sim: sim, url: listener.URL, http: listener.Client(), woken: make(chan struct{}, 1), inventory: map[string][]arm.ID{}}
	w.client, err = client.New(credential.Token(sim.Token("")), cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: listener.URL, Audience: "https://management.core.windows.net/"}}},
		client.Options{Principal: "p", Transport: listener.Client()})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine.New(engine.Options{Clock: &w.clock, Jitter: func() float64 { return 0 }})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = w.engine.Start(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		listener.Close()
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *world) wakeUp() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// listRequests returns those since the last call, as "PUT /subscriptions/...".
func (w *world) listRequests() []string {
	all := w.sim.Requests()
	var out []string
	for _, request := range all[w.seen:] {
		out = append(out, request.Method+" "+request.URL)
	}
	w.seen = len(all)
	return out
}

// putResource makes a resource as users bring it. An existing resource stays unchanged.
func (w *world) putResource(id arm.ID, body map[string]any) {
	w.t.Helper()
	row, err := types.ForID(id)
	version := row.APIVersion
	if err != nil {
		version = types.ScaleSetAPIVersion
	}
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, w.url+string(id)+"?api-version="+version, bytes.NewReader(raw))
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+w.sim.Token(""))
	request.Header.Set("Content-Type", "application/json")
	response, err := w.http.Do(request)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if answer, _ := io.ReadAll(response.Body); response.StatusCode > 299 {
		w.t.Fatalf("PUT %s: %d %s", id, response.StatusCode, answer)
	}
}

// bringResources makes the resources that the spec names as existing.
func (w *world) bringResources(in plan.MachineInput) {
	w.t.Helper()
	location := map[string]any{"location": plan.Location(in.ClusterInput)}
	group := func(id arm.ID) {
		w.putResource(arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()), location)
	}
	network := func(id arm.ID, blocks []string, subnets map[string][]string) {
		group(id)
		list := []any{}
		for _, name := range slices.Sorted(maps.Keys(subnets)) {
			list = append(list, map[string]any{"name": name, "properties": map[string]any{"addressPrefixes": subnets[name]}})
		}
		w.putResource(id, map[string]any{"location": plan.Location(in.ClusterInput),
			"properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": blocks}, "subnets": list}})
	}
	fact := in.Facts.VNet
	if in.AzureMachine != nil {
		fact = in.MachineFacts.VNet
	}
	if plan.IsBYONetwork(in.ClusterInput, fact) {
		brought := map[string][]string{}
		for name := range fact.Subnets {
			if prefixes, ok := plan.BYOSubnetPrefixes(in.ClusterInput, fact, name); ok {
				brought[name] = prefixes
			}
		}
		network(plan.VNetID(in.ClusterInput), fact.AddressPrefixes, brought)
	}
	for i, peering := range in.AzureCluster.Spec.NetworkSpec.Vnet.Peerings {
		network(plan.RemoteVNetID(in.ClusterInput, peering), []string{fmt.Sprintf("172.%d.0.0/16", 16+i)},
			map[string][]string{"GatewaySubnet": {fmt.Sprintf("172.%d.0.0/24", 16+i)}})
	}
	if zone := plan.PrivateDNSZoneResourceGroup(in.ClusterInput); zone != plan.ResourceGroup(in.ClusterInput) {
		w.putResource(arm.ResourceGroupID(in.SubscriptionID, zone), location)
	}
	if in.AzureMachine == nil {
		return
	}
	for _, identity := range in.AzureMachine.Spec.UserAssignedIdentities {
		id := arm.ID(arm.TrimScheme(identity.ProviderID))
		group(id)
		w.putResource(id, location)
	}
	w.bringCompute(in)
}

// readGolden reads the documents of a golden case, each into the value for its kind; "" is for documents without a kind.
func readGolden(t *testing.T, path string, into map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(raw, []byte("\n---\n")) {
		var kind struct{ Kind string }
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if err := yaml.Unmarshal(document, into[kind.Kind]); err != nil {
			t.Fatalf("%s: %v in\n%s", kind.Kind, err, document)
		}
	}
}

// readInput reads the manifests of a golden case.
func readInput(t *testing.T, path string) plan.MachineInput {
	t.Helper()
	in := plan.MachineInput{}
	var given struct {
		SubscriptionID, BootstrapData, AdminPassword string
		ControlPlane                                 bool
		Features                                     plan.Features
		Facts                                        plan.ClusterFacts
		MachineFacts                                 plan.MachineFacts
	}
	readGolden(t, path, map[string]any{"Cluster": &in.Cluster, "AzureCluster": &in.AzureCluster, "Machine": &in.Machine,
		"AzureMachine": &in.AzureMachine, "": &given})
	in.SubscriptionID, in.Features, in.Facts = given.SubscriptionID, given.Features, given.Facts
	in.ControlPlane, in.MachineFacts, in.AdminPassword = given.ControlPlane, given.MachineFacts, given.AdminPassword
	if given.BootstrapData != "" {
		in.BootstrapData = []byte(given.BootstrapData)
	}
	return in
}
