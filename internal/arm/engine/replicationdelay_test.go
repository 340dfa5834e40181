package engine_test

import (
	"net/http"
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
