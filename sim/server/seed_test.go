package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// reply is an answer with everything that a client sees of it.
type reply struct {
	Status int
	Header http.Header
	Body   string
}

// playSequence sends a sequence of requests to a new simulator: groups, a network, identities, machines and their deletion,
// each operation polled.
func playSequence(t *testing.T, seed uint64) (answers []reply, log string) {
	t.Helper()
	var lines bytes.Buffer
	sim, err := server.New(server.Options{Clock: store.NewVirtual(epoch), TimeScale: 1, Seed: seed, RequestLog: &lines})
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	handler, token := sim.Handler(), sim.Token("")
	send := func(method, path string, body any) reply {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var in io.Reader
		if body != nil {
			in = bytes.NewReader(raw)
		}
		r := httptest.NewRequest(method, path, in)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		answer := reply{Status: w.Code, Header: w.Header(), Body: w.Body.String()}
		answers = append(answers, answer)
		return answer
	}
	network := groupA + "/providers/Microsoft.Network/"
	for _, step := range []struct {
		method, path string
		body         any
	}{
		{"PUT", groupA + "?api-version=2021-04-01", obj{"location": "westus3"}},
		{"PUT", network + "virtualNetworks/vnet?api-version=2024-05-01",
			obj{"location": "westus3",
				"properties": obj{"addressSpace": obj{"addressPrefixes": []any{"10.0.0.0/8"}},
					"subnets": []any{obj{"name": "node", "properties": obj{"addressPrefix": "10.0.0.0/16"}}}}}},
		{"PUT", groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/identity?api-version=2023-01-31",
			obj{"location": "westus3"}},
		{"PUT", network + "publicIPAddresses/p?api-version=2024-05-01",
			obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{"publicIPAllocationMethod": "Static"}}},
		{"PUT", groupA + "/providers/Microsoft.Compute/virtualMachineScaleSets/set?api-version=2024-07-01", scaleSet(3, nil)},
		{"GET", groupA + "/providers/Microsoft.Compute/virtualMachineScaleSets/set/virtualMachines?api-version=2024-07-01", nil},
		{"GET", "/subscriptions/" + sub + "/resources?api-version=2021-04-01", nil},
		{"PUT", network + "virtualNetworks/refused?api-version=2024-05-01", obj{"location": "westus3", "banana": 1}},
		{"DELETE", groupA + "?api-version=2021-04-01", nil},
		{"GET", "/subscriptions/" + sub + "/resources?api-version=2021-04-01", nil},
	} {
		answer := send(step.method, step.path, step.body)
		if answer.Status > 299 && step.method == "PUT" && !strings.Contains(step.path, "/refused?") {
			t.Fatalf("%s: %d %s", step.path, answer.Status, answer.Body)
		}
		for _, header := range []string{"Azure-AsyncOperation", "Location"} {
			if url := answer.Header.Get(header); url != "" {
				sim.Advance(10 * time.Second)
				send("GET", url, nil)
			}
		}
		sim.Settle()
	}
	return answers, lines.String()
}

// TestSeedDecides: with a virtual clock two runs of the same requests and the same seed give the same answers and the same log, to the
// last ID; another seed gives others.
func TestSeedDecides(t *testing.T) {
	answers, log := playSequence(t, 7)
	for range 3 {
		again, logAgain := playSequence(t, 7)
		if diff := cmp.Diff(answers, again); diff != "" {
			t.Errorf("answers of the same seed (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(log, logAgain); diff != "" {
			t.Errorf("logs of the same seed (-first +second):\n%s", diff)
		}
	}
	other, otherLog := playSequence(t, 8)
	if cmp.Equal(answers, other) || log == otherLog {
		t.Error("another seed gives the same answers or the same log")
	}
}
