package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// nodesAwaitingQuota is a world in which the writes of Microsoft.Network are held back for 200 s after a group was made, with a client that is
// not.
func heldBack(t *testing.T) (w *world, free *client.Client) {
	t.Helper()
	w, _ = made(t, groupNode())
	free = w.client
	w.limit(client.NewBudgets(w.clock.Now))
	w.fault(fault.Rule{Method: http.MethodPut, Type: "Microsoft.Network/publicIPAddresses", Kind: fault.Throttle, RetryAfter: 200, Count: 1})
	if outcome := w.pass(w.request(pipNode())); outcome.IsDone() {
		t.Fatal("nothing was throttled")
	}
	w.requests()
	return w, free
}

// waitingNetwork are five resources of which two need others.
func waitingNetwork(w *world) engine.Request {
	return w.request(append(network(), nicNode())...)
}

func TestWhatWaitsForItsTurnIsReadOnce(t *testing.T) {
	w, _ := heldBack(t)
	request := waitingNetwork(w)
	outcome := w.pass(request)
	request.Inventory = outcome.Inventory
	w.requests()
	for range 4 {
		w.sim.Advance(40 * time.Second)
		outcome = w.pass(request)
		seen, err := w.engine.Observe(t.Context(), w.client, []arm.ID{vnet, nic}, false)
		if err != nil || len(seen) != 2 || seen[vnet.Key()].Exists || seen[nic.Key()].Exists {
			t.Errorf("after %s: seen %v, %v", w.clock.Now().Sub(epoch), seen, err)
		}
		if got := w.reads("virtualNetworks", "networkSecurityGroups", "networkInterfaces"); len(got) > 0 {
			t.Errorf("after %s: asked for what waits for its turn: %v", w.clock.Now().Sub(epoch), got)
		}
		for _, result := range outcome.Results {
			if result.ID.Equal(group) {
				continue
			}
			held := result.State == arm.Waiting && arm.IsBudgetEmpty(result.Err)
			if !held && (result.State != arm.Blocked || result.BlockedBy == "") {
				t.Errorf("%s: %s, blocked by %q, %v", result.ID.ShortName(), result.State, result.BlockedBy, result.Err)
			}
		}
	}
	if outcome = w.converge(request, 5*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if seen, err := w.engine.Observe(t.Context(), w.client, []arm.ID{vnet, nic}, false); err != nil || !seen[vnet.Key()].Exists || !seen[nic.Key()].Exists {
		t.Errorf("when all is there: seen %v, %v", seen, err)
	}
	for _, record := range w.sim.Requests() {
		if record.Status == http.StatusConflict {
			t.Errorf("%s %s: %d", record.Method, record.URL, record.Status)
		}
	}
}

func TestWhatCameWhileWaitingForATurnIsNotOverwritten(t *testing.T) {
	w, free := heldBack(t)
	request := waitingNetwork(w)
	w.pass(request)
	w.sim.Advance(time.Minute)
	w.pass(request)

	limited := w.client
	w.client = free
	w.put(nsg, object{"location": "eastus"})
	w.client = limited

	outcome := w.until(request, 10*time.Minute, func(o arm.Outcome) bool {
		for _, result := range o.Results {
			if result.ID.Equal(nsg) {
				return result.State == arm.Failed
			}
		}
		return false
	})
	found := ""
	for _, result := range outcome.Results {
		if result.ID.Equal(nsg) && result.Err != nil {
			found = result.Err.Error()
		}
	}
	if !strings.Contains(found, engine.CodeNotOwned) {
		t.Errorf("the security group of somebody else: %q, want %s", found, engine.CodeNotOwned)
	}
	writes, _ := w.requests()
	if got := matching(writes, "networkSecurityGroups"); len(got) > 0 {
		t.Errorf("written to the security group of somebody else: %v", got)
	}
}

// A fresh pass asks for everything, whatever waits.
func TestAFreshPassReadsWhatWaits(t *testing.T) {
	w, _ := heldBack(t)
	request := waitingNetwork(w)
	w.pass(request)
	w.requests()
	w.sim.Advance(40 * time.Second)
	request.BypassCache = true
	w.pass(request)
	if got := w.reads("virtualNetworks", "networkSecurityGroups"); len(got) == 0 {
		t.Error("nothing was asked for")
	}
}

// reads are those since the last call of resources of some types.
func (w *world) reads(types ...string) (out []string) {
	_, reads := w.requests()
	return matching(reads, types...)
}

func matching(lines []string, texts ...string) (out []string) {
	for _, line := range lines {
		for _, text := range texts {
			if strings.Contains(line, text) {
				out = append(out, line)
				break
			}
		}
	}
	return out
}
