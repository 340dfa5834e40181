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

// worldWithoutQuota throttles writes of Microsoft.Network for 200 s after the creation of a group. free is a client without that limit.
func worldWithoutQuota(t *testing.T) (w *world, free *client.Client) {
	t.Helper()
	w, _ = worldWith(t, groupNode())
	free = w.client
	w.limitRequests(client.NewBudgets(w.clock.Now, 1))
	w.addFault(fault.Rule{Method: http.MethodPut, Type: "Microsoft.Network/publicIPAddresses", Kind: fault.Throttle,
		RetryAfter: 200, Count: 1})
	if outcome := w.convergeOnce(w.newRequest(pipNode())); outcome.IsDone() {
		t.Fatal("no write was throttled")
	}
	w.listRequests()
	return w, free
}

// waitingNetwork has five resources, two of which depend on others.
func waitingNetwork(w *world) engine.Request {
	return w.newRequest(append(networkNodes(), nicNode())...)
}

func TestNodesAwaitingQuotaAreReadOnce(t *testing.T) {
	w, _ := worldWithoutQuota(t)
	request := waitingNetwork(w)
	outcome := w.convergeOnce(request)
	request.Inventory = outcome.Inventory
	w.listRequests()
	for range 4 {
		w.sim.Advance(40 * time.Second)
		outcome = w.convergeOnce(request)
		seen, err := w.engine.Observe(t.Context(), w.client, []arm.ID{vnet, nic}, false, engine.ReadOptions{})
		if err != nil || len(seen) != 2 || seen[vnet.Key()].Exists || seen[nic.Key()].Exists {
			t.Errorf("after %s: seen %v, %v", w.clock.Now().Sub(epoch), seen, err)
		}
		if got := w.listReads("virtualNetworks", "networkSecurityGroups", "networkInterfaces"); len(got) > 0 {
			t.Errorf("after %s: read resources that wait for quota: %v", w.clock.Now().Sub(epoch), got)
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
	if outcome = w.convergeUntilDone(request, 5*time.Minute); !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	if seen, err := w.engine.Observe(t.Context(), w.client, []arm.ID{vnet, nic}, false, engine.ReadOptions{}); err != nil ||
		!seen[vnet.Key()].Exists ||
		!seen[nic.Key()].Exists {
		t.Errorf("when all exist: seen %v, %v", seen, err)
	}
	for _, record := range w.sim.Requests() {
		if record.Status == http.StatusConflict {
			t.Errorf("%s %s: %d", record.Method, record.URL, record.Status)
		}
	}
}

func TestResourceCreatedDuringQuotaWaitIsNotOverwritten(t *testing.T) {
	w, free := worldWithoutQuota(t)
	request := waitingNetwork(w)
	w.convergeOnce(request)
	w.sim.Advance(time.Minute)
	w.convergeOnce(request)

	limited := w.client
	w.client = free
	w.putResource(nsg, object{"location": "eastus"})
	w.client = limited

	outcome := w.convergeUntil(request, 10*time.Minute, func(o arm.Outcome) bool {
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
		t.Errorf("the foreign security group: %q, want %s", found, engine.CodeNotOwned)
	}
	writes, _ := w.listRequests()
	if got := filterLines(writes, "networkSecurityGroups"); len(got) > 0 {
		t.Errorf("wrote to the foreign security group: %v", got)
	}
}

// TestBypassCacheReadsNodesAwaitingQuota: a request with BypassCache reads every node.
func TestBypassCacheReadsNodesAwaitingQuota(t *testing.T) {
	w, _ := worldWithoutQuota(t)
	request := waitingNetwork(w)
	w.convergeOnce(request)
	w.listRequests()
	w.sim.Advance(40 * time.Second)
	request.BypassCache = true
	w.convergeOnce(request)
	if got := w.listReads("virtualNetworks", "networkSecurityGroups"); len(got) == 0 {
		t.Error("no request was sent")
	}
}

// listReads returns the reads of some types since the last call.
func (w *world) listReads(types ...string) (out []string) {
	_, reads := w.listRequests()
	return filterLines(reads, types...)
}

func filterLines(lines []string, texts ...string) (out []string) {
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
