package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func newSimulator(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	sim, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return sim
}

// askOnce sends one request to a simulator.
func askOnce(t *testing.T, sim *server.Server, method, path string, body any) reply {
	t.Helper()
	var in io.Reader
	if raw, is := body.([]byte); is {
		in = bytes.NewReader(raw)
	} else if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	r := httptest.NewRequest(method, path, in)
	r.Header.Set("Authorization", "Bearer "+sim.Token(""))
	w := httptest.NewRecorder()
	sim.Handler().ServeHTTP(w, r)
	return reply{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
}

const (
	setPath  = groupA + "/providers/Microsoft.Compute/virtualMachineScaleSets/set?api-version=2024-07-01"
	diskPath = groupA + "/providers/Microsoft.Compute/disks/d?api-version=2024-03-02"
)

// beginScaleSet leaves a simulator with a scale set that is being made, polled twice, and a fault that has acted once of twice.
func beginScaleSet(t *testing.T, sim *server.Server) (poll string) {
	t.Helper()
	must := func(method, path string, body any) reply {
		answer := askOnce(t, sim, method, path, body)
		if answer.Status > 299 {
			t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
		}
		return answer
	}
	must("PUT", groupA+"?api-version=2021-04-01", obj{"location": "westus3"})
	must("PUT", groupA+"/providers/Microsoft.Network/virtualNetworks/vnet?api-version=2024-05-01",
		obj{"location": "westus3",
			"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
				"subnets": []any{obj{"name": "node", "properties": obj{"addressPrefix": "10.0.0.0/16"}}}}})
	sim.Settle()
	if err := sim.AddFault(fault.Rule{Kind: fault.Throttle, Method: "DELETE", RetryAfter: 3, Count: 2}); err != nil {
		t.Fatal(err)
	}
	if answer := askOnce(t, sim, "DELETE", diskPath, nil); answer.Status != 429 {
		t.Fatalf("the fault gives %d", answer.Status)
	}
	poll = must("PUT", setPath, scaleSet(3, nil)).Header.Get("Azure-AsyncOperation")
	for range 2 {
		sim.Advance(time.Second)
		must("GET", poll, nil)
	}
	return poll
}

// goOn returns the answers of a simulator from this state on.
func goOn(t *testing.T, sim *server.Server, poll string) (answers []reply) {
	t.Helper()
	ask := func(method, path string, body any) { answers = append(answers, askOnce(t, sim, method, path, body)) }
	ask("GET", poll, nil)
	ask("PUT", diskPath, obj{"location": "westus3", "properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}})
	sim.Advance(7 * time.Second)
	ask("GET", poll, nil)
	sim.Settle()
	ask("GET", poll, nil)
	ask("GET", setPath, nil)
	ask("GET", groupA+"/providers/Microsoft.Compute/virtualMachineScaleSets/set/virtualMachines?api-version=2024-07-01", nil)
	for range 2 {
		ask("DELETE", diskPath, nil)
	}
	ask("DELETE", groupA+"?api-version=2021-04-01", nil)
	sim.Settle()
	ask("GET", "/subscriptions/"+sub+"/resources?api-version=2021-04-01", nil)
	return answers
}

// TestSnapshot: a simulator that continues from a snapshot, taken in the midst of an operation, gives the same
// answers as the simulator that it was taken of, to the last header. So does that simulator itself after Restore.
func TestSnapshot(t *testing.T) {
	options := func() server.Options {
		return server.Options{Clock: store.NewVirtual(epoch), TimeScale: 1, Seed: 7}
	}
	first := newSimulator(t, options())
	poll := beginScaleSet(t, first)
	snapshot := askOnce(t, first, "GET", "/_sim/snapshot", nil)
	if snapshot.Status != 200 {
		t.Fatalf("snapshot: %d %s", snapshot.Status, snapshot.Body)
	}
	if again := askOnce(t, first, "GET", "/_sim/snapshot", nil); again.Body != snapshot.Body {
		t.Error("a second snapshot of the same state is another one")
	}
	want := goOn(t, first, poll)
	throttled := 0
	for _, answer := range want {
		if answer.Status == 429 {
			throttled++
		}
	}
	if throttled != 1 {
		t.Errorf("%d answers are throttled; the fault has one left", throttled)
	}

	dir := t.TempDir()
	elsewhere := options()
	elsewhere.Seed, elsewhere.StateDir = 99, dir
	elsewhere.Clock = store.NewVirtual(epoch.Add(24 * time.Hour))
	second := newSimulator(t, elsewhere)
	askOnce(t, second, "PUT", "/subscriptions/"+sub+"/resourceGroups/other?api-version=2021-04-01", obj{"location": "westus3"})
	for name, sim := range map[string]*server.Server{"another one": second, "the same one": first} {
		if answer := askOnce(t, sim, "PUT", "/_sim/snapshot", []byte(snapshot.Body)); answer.Status != 204 {
			t.Fatalf("%s takes the snapshot: %d %s", name, answer.Status, answer.Body)
		}
		if now := askOnce(t, sim, "GET", "/_sim/snapshot", nil); now.Body != snapshot.Body {
			t.Errorf("the snapshot of %s differs from the one that it took (-want +got):\n%s", name, cmp.Diff(snapshot.Body, now.Body))
		}
		if diff := cmp.Diff(want, goOn(t, sim, poll)); diff != "" {
			t.Errorf("%s answers otherwise from there (-want +got):\n%s", name, diff)
		}
	}

	if answer := askOnce(t, second, "PUT", "/_sim/snapshot", []byte(snapshot.Body)); answer.Status != 204 {
		t.Fatal(answer.Body)
	}
	copied := newSimulator(t, options())
	if err := copied.CopyState(second); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, goOn(t, copied, poll)); diff != "" {
		t.Errorf("a copy answers otherwise (-want +got):\n%s", diff)
	}
	if now := askOnce(t, second, "GET", "/_sim/snapshot", nil); now.Body != snapshot.Body {
		t.Errorf("requests to a copy changed what it was copied from (-want +got):\n%s", cmp.Diff(snapshot.Body, now.Body))
	}
	restarted := options()
	restarted.StateDir = copyState(t, dir)
	third := newSimulator(t, restarted)
	if diff := cmp.Diff(second.State(), third.State()); diff != "" || len(third.Operations()) != len(second.Operations()) {
		t.Errorf("the snapshot on disk differs (-want +got):\n%s", diff)
	}
}

// TestSnapshotRefused: a faulty snapshot is refused with the reason, and changes nothing.
func TestSnapshotRefused(t *testing.T) {
	sim := newSimulator(t, server.Options{Clock: store.NewVirtual(epoch), Subscriptions: []string{sub}})
	beginScaleSet(t, sim)
	good := askOnce(t, sim, "GET", "/_sim/snapshot", nil).Body
	for name, c := range map[string]struct{ document, want string }{
		"no JSON":          {"banana", "no snapshot"},
		"another document": {`{"resources": []}`, "version"},
		"another tenant":   {strings.Replace(good, server.DefaultTenant, "72f988bf-0000-0000-0000-00000000000f", 1), "tenant"},
		"another subscription": {strings.Replace(good, `"subscriptions":["`+sub, `"subscriptions":["00000000-0000-0000-0000-00000000000f`, 1),
			"00000000-0000-0000-0000-00000000000f"},
		"a fault unknown":   {strings.Replace(good, `"kind":"throttle"`, `"kind":"banana"`, 1), "banana"},
		"no random numbers": {strings.Replace(good, `"ids":"`, `"ids":"AAAA`, 1), "random"},
		"a damaged state":   {strings.Replace(good, `"put":[`, `"put":[7,`, 1), "state"},
	} {
		answer := askOnce(t, sim, "PUT", "/_sim/snapshot", []byte(c.document))
		if answer.Status != 400 || !strings.Contains(answer.Body, c.want) {
			t.Errorf("%s: %d %s, want 400 and %q", name, answer.Status, answer.Body, c.want)
		}
		if now := askOnce(t, sim, "GET", "/_sim/snapshot", nil).Body; now != good {
			t.Errorf("%s: the state has changed", name)
		}
	}
}
