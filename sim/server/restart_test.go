package server_test

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// TestStuckOperationEndsAtRestart checks that a resource can be deleted after a restart: the rules of faults are gone then.
func TestStuckOperationEndsAtRestart(t *testing.T) {
	dir := t.TempDir()
	clock := store.NewVirtual(epoch)
	with := func(o *server.Options) { o.StateDir, o.Clock = dir, clock }
	table := net + "/routeTables/x"
	a := newAzure(t, with)
	a.createGroup()
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Stuck}); err != nil {
		t.Fatal(err)
	}
	a.mustSucceed("PUT", table, obj{"location": "westus3"})
	a.sim.Advance(100 * time.Hour)
	if r := a.sendRequest("GET", table, nil); r.valueAt("properties.provisioningState") != "Updating" {
		t.Fatalf("the operation is not stuck: %v", r.body)
	}
	dir = copyState(t, dir)
	b := newAzure(t, with)
	if rules := b.sim.Faults(); len(rules) != 0 {
		t.Fatalf("rules after the restart: %v", rules)
	}
	b.sim.Settle()
	if r := b.sendRequest("GET", table, nil); r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("after the restart: %v", r.body)
	}
	if r := b.sendRequest("DELETE", table, nil); r.status >= 300 {
		t.Errorf("DELETE = %d %v", r.status, r.body)
	}
}
