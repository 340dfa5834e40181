package engine_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// gatedTransport calls a function before each request.
type gatedTransport struct {
	policy.Transporter
	before func(method, path string)
}

func (g gatedTransport) Do(request *http.Request) (*http.Response, error) {
	g.before(request.Method, strings.ToLower(request.URL.Path))
	return g.Transporter.Do(request)
}

// TestReadBeforeRepairIsNotItsResult ends a repair while its convergence reads another resource. The read of the repaired resource is
// older than the repair: if it counted as Azure's normalisation, the same change would not be repaired again.
func TestReadBeforeRepairIsNotItsResult(t *testing.T) {
	w := newWorld(t)
	var armed, written atomic.Bool
	reading, ended := make(chan struct{}), make(chan struct{})
	closeReading, closeEnded := sync.OnceFunc(func() { close(reading) }), sync.OnceFunc(func() { close(ended) })
	options := w.options
	options.Transport = gatedTransport{Transporter: options.Transport, before: func(method, path string) {
		switch {
		case !armed.Load():
		case method == http.MethodPut && strings.HasSuffix(path, "/lb"):
			<-reading
		case method == http.MethodPut && strings.HasSuffix(path, "/nsg"):
			written.Store(true)
		case method == http.MethodGet && strings.HasSuffix(path, "/nsg") && written.Load():
			closeReading()
			<-ended
		}
	}}
	gated, err := client.New(credential.Token(w.sim.Token("")), w.cloud, options)
	if err != nil {
		t.Fatal(err)
	}
	w.client = gated
	w.engine = engine.New(engine.Options{Clock: w.clock, Jitter: func() float64 { return 0 }, Log: funcr.New(func(_, line string) {
		if armed.Load() && strings.Contains(line, "Changed Azure") && strings.Contains(line, "loadBalancers/lb") {
			closeEnded()
		}
	}, funcr.Options{Verbosity: 1})})

	tagged := nsgNode()
	tagged.Body.(object)["tags"].(object)["env"] = "test"
	request := w.newRequest(groupNode(), tagged, pipNode(), lbNode())
	if outcome := w.convergeUntilDone(request, 10*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	drift := func() {
		w.advanceClock(time.Hour)
		w.listWrites()
		w.addFault(fault.Rule{Now: true, ID: string(lb), Kind: fault.Edit, Patch: object{"properties": object{"loadBalancingRules": []any{}}}})
	}
	drift()
	w.addFault(fault.Rule{Now: true, ID: string(nsg), Kind: fault.Edit, Patch: object{"tags": object{"env": "theirs"}}})
	armed.Store(true)
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	armed.Store(false)
	if diff := cmp.Diff([]string{"PUT rg loadBalancers/lb", "PUT rg networkSecurityGroups/nsg"}, sortLines(w.listWrites())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	drift()
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if diff := cmp.Diff([]string{"PUT rg loadBalancers/lb"}, w.listWrites()); diff != "" {
		t.Errorf("the same change again (-want +got):\n%s", diff)
	}
}
