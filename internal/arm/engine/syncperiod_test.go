package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
)

// TestSyncReusesReads repeats the sync of resources in order: reads are valid while Azure's list of all resources shows no write, but
// are no basis for a write.
func TestSyncReusesReads(t *testing.T) {
	w, request := worldWith(t, append(networkNodes(), pipNode())...)
	request.BypassCache = false
	w.engine = engine.New(engine.Options{Clock: w.clock, Jitter: func() float64 { return 0 }, MaxConfirmedAge: time.Hour})
	look := func(request engine.Request) (outcome arm.Outcome, writes, reads []string) {
		t.Helper()
		request.Read.MaxAge = engine.SyncMaxAge(10 * time.Minute)
		outcome, err := w.engine.Converge(context.Background(), request)
		if err != nil {
			t.Fatal(err)
		}
		writes, reads = w.listRequests()
		return outcome, writes, reads
	}
	changed := pipNode()
	changed.Body.(object)["tags"].(object)["team"] = "blue"
	everything := []string{"GET /resources", "GET rg", "GET rg networkSecurityGroups/nsg", "GET rg publicIPAddresses/pip",
		"GET rg virtualNetworks/vnet"}
	for _, step := range []struct {
		reason string
		after  time.Duration
		nodes  []arm.Node
		writes []string
		reads  []string
	}{
		{"the cache was empty", 0, append(networkNodes(), pipNode()), nil, everything},
		{"there was no write since", 10 * time.Minute, append(networkNodes(), pipNode()), nil, []string{"GET /resources"}},
		{"a resource is read before its write, despite earlier reads, and after it", 10 * time.Minute, append(networkNodes(), changed),
			[]string{"PUT rg publicIPAddresses/pip"},
			[]string{"GET /resources", "GET rg publicIPAddresses/pip", "GET rg publicIPAddresses/pip"}},
		{"each resource is read once per hour", 50 * time.Minute, append(networkNodes(), changed), nil, everything},
	} {
		w.advanceClock(step.after)
		w.listRequests()
		outcome, writes, reads := look(w.newRequest(step.nodes...))
		if diff := cmp.Diff([][]string{step.writes, step.reads}, [][]string{writes, sortLines(reads)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%+v", step.reason, diff, outcome.RootCauses())
		}
	}
}
