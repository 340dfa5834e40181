package engine_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// unreadable is an Azure that does not show one resource for a while.
type unreadable struct {
	*bodyStore
	id     arm.ID
	status int
	code   string
	ended  atomic.Bool
}

func (u *unreadable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.EqualFold(r.URL.Path, string(u.id)) && !u.ended.Load() {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(u.status)
		_, _ = w.Write([]byte(`{"error":{"code":"` + u.code + `","message":"no"}}`))
		return
	}
	u.bodyStore.ServeHTTP(w, r)
}

// proof has the body of a resource, and the ID of the resource whose tags prove the ownership of the first.
type proof struct {
	body object
	by   arm.ID
}

// proofsOf returns what can prove the ownership of an untagged resource.
func proofsOf(id, network arm.ID, row types.Type) map[string]proof {
	out := map[string]proof{}
	top := id
	for top.Parent().Type() != types.ResourceGroup {
		top = top.Parent()
	}
	switch above, err := types.ForID(top); {
	case row.Name == types.ResourceGroup:
	case row.Taggable:
		out["its group"] = proof{object{"location": "eastus"}, arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())}
		if len(row.UsedResources) > 0 {
			out["what it uses"] = proof{bodyWithID(row.UsedResources[0], network), network}
		}
	case err == nil && above.Taggable && !above.FromDefinition:
		out["its parent"] = proof{object{}, top}
	}
	return out
}

// TestUnreadEvidenceOfEachType deletes a resource of each type whose ownership another resource proves, while that one cannot be read. The
// deletion waits and says why, and is sent once the other one can be read. Without the right to read it, nothing proves the ownership.
func TestUnreadEvidenceOfEachType(t *testing.T) {
	ours := object{owner.TagKey: owner.TagValue}
	network := arm.NewID(sub, "net", types.VirtualNetwork, "own")
	for _, row := range types.TableRows() {
		id := idOf("rg", row.Name)
		for name, proof := range proofsOf(id, network, row) {
			for what, azure := range map[string]*unreadable{
				"wrong token": {status: http.StatusUnauthorized, code: "InvalidAuthenticationToken"},
				"no right":    {status: http.StatusForbidden, code: "AuthorizationFailed"},
			} {
				t.Run(strings.Join([]string{row.Name, name, what}, "/"), func(t *testing.T) {
					azure.bodyStore, azure.id = &bodyStore{bodies: map[string]object{}}, proof.by
					azure.storeBody(arm.ResourceGroupID(sub, "rg"), object{"location": "eastus"})
					azure.storeBody(id, proof.body)
					azure.storeBody(proof.by, object{"location": "eastus", "tags": ours})
					c := newClientOf(t, azure)
					e := engine.New(engine.Options{})
					remove := func() arm.Outcome {
						graph := &arm.Graph{}
						graph.Add(arm.Node{ID: id, Policy: arm.Repair, Group: "G"})
						outcome, err := e.Delete(t.Context(), engine.Request{Object: "AzureCluster/default/c1", Client: c, Owner: owner, Graph: graph,
							BypassCache: true, Record: []arm.ID{id}})
						if err != nil {
							t.Fatal(err)
						}
						return outcome
					}
					outcome := remove()
					if got := findResult(t, outcome, id); len(azure.writes) > 0 || azure.status == http.StatusUnauthorized &&
						(outcome.IsDeleted() || got.State == arm.Foreign || got.Err == nil || !strings.Contains(got.Err.Error(), azure.code)) {
						t.Fatalf("wrote %v: complete %t, %s %v", azure.writes, outcome.IsDeleted(), got.State, got.Err)
					}
					azure.ended.Store(true)
					for range 2 {
						outcome = remove()
					}
					if azure.status == http.StatusUnauthorized && (!outcome.IsDeleted() || azure.bodies[id.Key()] != nil) {
						t.Fatalf("wrote %v: complete %t", azure.writes, outcome.IsDeleted())
					}
				})
			}
		}
	}
}

// TestUnreadVMOfRoleAssignment deletes a VM and the role of its identity while the VM cannot be read. Only the identity of the VM proves whose role
// it is.
func TestUnreadVMOfRoleAssignment(t *testing.T) {
	vm, role := arm.NewID(sub, "rg", types.VirtualMachine, "vm"), idOf("rg", types.RoleAssignment)
	azure := &unreadable{bodyStore: &bodyStore{bodies: map[string]object{}}, id: vm, status: http.StatusUnauthorized, code: "InvalidAuthenticationToken"}
	azure.storeBody(arm.ResourceGroupID(sub, "rg"), object{"location": "eastus"})
	azure.storeBody(vm, object{"location": "eastus", "tags": object{owner.TagKey: owner.TagValue}, "identity": object{"principalId": "p1"}})
	azure.storeBody(role, object{"properties": object{"principalId": "p1"}})
	e, c := engine.New(engine.Options{}), newClientOf(t, azure)
	remove := func() arm.Outcome {
		graph := &arm.Graph{}
		graph.Add(arm.Node{ID: vm, Policy: arm.Repair, Group: "G"})
		graph.Add(arm.Node{ID: role, Policy: arm.Repair, Group: "G", After: []arm.ID{vm}})
		outcome, err := e.Delete(t.Context(), engine.Request{Object: "AzureMachine/default/m", Client: c, Owner: owner, Graph: graph, BypassCache: true,
			Record: []arm.ID{vm}, Inventory: []arm.ID{role}})
		if err != nil {
			t.Fatal(err)
		}
		return outcome
	}
	if got := findResult(t, remove(), role); len(azure.writes) > 0 || got.State == arm.Foreign || got.State == arm.Gone {
		t.Fatalf("wrote %v: %s %v", azure.writes, got.State, got.Err)
	}
	azure.ended.Store(true)
	remove()
	if outcome := remove(); !outcome.IsDeleted() || azure.bodies[role.Key()] != nil || azure.bodies[vm.Key()] != nil {
		t.Errorf("wrote %v: %v", azure.writes, outcome.Results)
	}
}
