package engine_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func sortLines(lines []string) []string { slices.Sort(lines); return lines }

func listStates(outcome arm.Outcome) map[string]arm.State {
	out := map[string]arm.State{}
	for _, result := range outcome.Results {
		out[result.ID.ShortName()] = result.State
	}
	return out
}

func TestCreate(t *testing.T) {
	w := newWorld(t)
	request := w.newRequest(networkNodes()...)
	outcome := w.convergeUntilDone(request, time.Minute)
	if !outcome.IsDone() || outcome.RetryAfter != 0 {
		t.Fatalf("done %t, again in %s: %+v", outcome.IsDone(), outcome.RetryAfter, outcome.RootCauses())
	}
	writes, reads := w.listRequests()
	if diff := cmp.Diff([]string{"PUT rg", "PUT rg networkSecurityGroups/nsg", "PUT rg virtualNetworks/vnet",
		"PUT rg virtualNetworks/vnet/subnets/cp", "PUT rg virtualNetworks/vnet/subnets/nodes"}, sortLines(writes)); diff != "" {
		t.Error(diff)
	}
	t.Logf("%d reads, %s", len(reads), w.clock.Now().Sub(epoch))
	missing := 0
	for _, record := range w.sim.Requests() {
		if record.Status == http.StatusNotFound {
			missing++
		}
	}
	if missing != 1 {
		t.Errorf("%d reads of absent resources: resources in a group that was just created need no read", missing)
	}

	if outcome := w.convergeUntilDone(request, 0); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	if writes, reads := w.listRequests(); len(writes)+len(reads) != 0 {
		t.Errorf("a second convergence within the freshness window sent requests: %v %v", writes, reads)
	}
	w.advanceClock(time.Hour)
	if outcome := w.convergeUntilDone(request, 0); !outcome.IsDone() {
		t.Errorf("%+v", outcome.RootCauses())
	}
	writes, reads = w.listRequests()
	if diff := cmp.Diff([]string{"GET rg", "GET rg networkSecurityGroups/nsg", "GET rg virtualNetworks/vnet"},
		sortLines(reads)); diff != "" || len(writes) > 0 {
		t.Errorf("writes %v, reads %s", writes, diff)
	}
}
