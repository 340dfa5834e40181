package engine_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// missingReferences are Azure's answers to a write that needs a resource which does not exist, or which is not visible in all of Azure yet.
var missingReferences = map[string]fault.Rule{
	"the group":                {Status: 404, Code: "ResourceGroupNotFound"},
	"the parent":               {Status: 404, Code: "ParentResourceNotFound"},
	"a resource of the body":   {Status: 404, Code: "NotFound"},
	"a reference of the body":  {Status: 400, Code: "InvalidResourceReference"},
	"by a code of a provider":  {Status: 404, Code: "SomethingNotFound"},
	"a reference, other case":  {Status: 400, Code: "invalidResourceReference"},
	"the resource, by its own": {Status: 404, Code: "ResourceNotFound"},
}

// TestMissingReference has Azure refuse a PUT because of a missing resource. For half a minute the provider waits, because a new resource may not be
// visible in all of Azure. Then the resource has failed, because users have to correct the spec.
func TestMissingReference(t *testing.T) {
	for name, rule := range missingReferences {
		t.Run(name, func(t *testing.T) {
			rule.Kind, rule.Method, rule.ID = fault.Status, "PUT", "*/networksecuritygroups/nsg"
			w := newWorld(t)
			w.addFault(rule)
			request := w.newRequest(groupNode(), nsgNode())
			outcome := w.convergeUntil(request, time.Minute, func(outcome arm.Outcome) bool {
				if got := findResult(t, outcome, nsg); got.State == arm.Failed {
					t.Errorf("a delay of Azure is a failure: %+v", got)
				}
				return outcome.IsDone()
			})
			if !outcome.IsDone() {
				t.Fatalf("%+v", outcome.RootCauses())
			}

			w = newWorld(t)
			rule.Count = -1
			w.addFault(rule)
			var failedAfter time.Duration
			w.convergeUntil(w.newRequest(groupNode(), nsgNode()), 10*time.Minute, func(outcome arm.Outcome) bool {
				got, _ := outcome.Result(nsg)
				if got.Err != nil && got.State != arm.Waiting && failedAfter == 0 {
					failedAfter = w.clock.Now().Sub(epoch)
				}
				return got.State == arm.Failed
			})
			if failedAfter < 30*time.Second || failedAfter > time.Minute {
				t.Errorf("failed after %s, want half a minute to a minute", failedAfter)
			}
		})
	}
}

// TestMissingPrincipal has Azure refuse a role assignment because the directory does not have the principal. For a quarter of an hour the provider
// waits, because a new principal takes minutes to reach the directory. Then the assignment has failed. It is tried again all the same.
func TestMissingPrincipal(t *testing.T) {
	const principal = "00000000-0000-0000-0000-00000000abcd"
	id := arm.ID("/subscriptions/"+sub+"/resourceGroups/rg").Extension(types.RoleAssignment, "9a5cc8b1-6d2a-4a6b-8f3a-0c1b2d3e4f50")
	node := arm.Node{ID: id, Policy: arm.CreateOnly, Foreign: arm.UseForeign, Group: "RoleAssignmentReady", After: []arm.ID{group}, Body: map[string]any{"properties": map[string]any{
		"principalId": principal, "principalType": "ServicePrincipal", "roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"}}}
	w := newWorld(t)
	w.addFault(fault.Rule{Kind: fault.Status, Method: "PUT", ID: "*/roleassignments/*", Status: 400, Code: "PrincipalNotFound", Count: -1})
	request := w.newRequest(groupNode(), node)
	var failedAfter time.Duration
	outcome := w.convergeUntil(request, 40*time.Minute, func(outcome arm.Outcome) bool {
		got := findResult(t, outcome, id)
		if got.State == arm.Failed && failedAfter == 0 {
			failedAfter = w.clock.Now().Sub(epoch)
		}
		return false
	})
	if failedAfter < 15*time.Minute || failedAfter > 18*time.Minute {
		t.Errorf("failed after %s, want a quarter of an hour and at most a delay between two tries", failedAfter)
	}
	got := findResult(t, outcome, id)
	for _, part := range []string{principal, id.ShortName(), "tenant", "15m0s"} {
		if !strings.Contains(got.Message, part) {
			t.Errorf("the message lacks %q: %s", part, got.Message)
		}
	}
	if writes := w.listWrites(); len(writes) < 15 {
		t.Errorf("a failed assignment is tried again: %v", writes)
	}
	w.sim.ClearFaults()
	request.Inventory = outcome.Inventory
	if outcome = w.convergeUntilDone(request, 5*time.Minute); !outcome.IsDone() {
		t.Errorf("the principal exists: %+v", outcome.RootCauses())
	}
}

// TestMissingReferenceOfAction is TestMissingReference for actions.
func TestMissingReferenceOfAction(t *testing.T) {
	vm := arm.NewID(sub, "rg", types.VirtualMachine, "m")
	for name, rule := range missingReferences {
		for _, method := range []string{http.MethodPatch, http.MethodPost, http.MethodPut} {
			t.Run(name+", "+method, func(t *testing.T) {
				rule.Kind, rule.Method, rule.Count = fault.Status, method, -1
				w := newWorld(t)
				w.addFault(rule)
				action := engine.Action{Object: "AzureMachine/default/m", Method: method, ID: vm, Body: map[string]any{"location": "eastus"}}
				for end := w.clock.Now().Add(5 * time.Minute); w.clock.Now().Before(end); {
					w.takeWake()
					result := w.engine.RunAction(t.Context(), w.client, action, w.wakeObject)
					age, want := w.clock.Now().Sub(epoch), arm.Waiting
					if age >= 30*time.Second {
						want = arm.Failed
					}
					if result.Err != nil && result.State != want {
						t.Fatalf("after %s: %s %v, want %s", age, result.State, result.Err, want)
					}
					w.advanceClock(arm.ReadRetryDelay(result.Err))
				}
			})
		}
	}
}
