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

// TestRefusedActionKeepsItsPace lets Azure answer every kind of action with 503 for five minutes. The object is reconciled whenever the
// action wakes it, and when the delay of its condition is over.
func TestRefusedActionKeepsItsPace(t *testing.T) {
	disk := arm.ID("/subscriptions/" + sub + "/resourceGroups/rg/providers/Microsoft.Compute/disks/d")
	vm := arm.ID("/subscriptions/" + sub + "/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/m")
	scaleSet := arm.ID("/subscriptions/" + sub + "/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/s")
	for name, test := range map[string]struct {
		reason string
		action engine.Action
	}{
		"identities of a VM": {"the PATCH of AzureMachines",
			engine.Action{Method: http.MethodPatch, ID: vm, Body: map[string]any{"identity": map[string]any{"type": "UserAssigned"}}}},
		"tag of a volume": {"the PATCH before VMs are deleted",
			engine.Action{Method: http.MethodPatch, ID: disk, SubPath: "providers/Microsoft.Resources/tags/default",
				APIVersion: types.TagsAPIVersion, Body: map[string]any{"operation": "Merge"}}},
		"instances, deleted": {"the POST of AzureMachinePools",
			engine.Action{Method: http.MethodPost, ID: scaleSet, SubPath: "delete", Part: "1", Body: map[string]any{"instanceIds": []string{"1"}}}},
		"instances, upgraded": {"the POST of AzureMachinePools",
			engine.Action{Method: http.MethodPost, ID: scaleSet, SubPath: "manualupgrade", Part: "1",
				Body: map[string]any{"instanceIds": []string{"1"}}}},
		"VM, deleted": {"the DELETE of AzureMachinePools", engine.Action{Method: http.MethodDelete, ID: vm}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.addFault(fault.Rule{Method: test.action.Method, Kind: fault.Status, Status: http.StatusServiceUnavailable, Code: "ServerBusy",
				Count: -1})
			test.action.Object = "AzureMachine/default/m"
			for end := w.clock.Now().Add(5 * time.Minute); w.clock.Now().Before(end); {
				w.takeWake()
				result := w.engine.RunAction(t.Context(), w.client, test.action, w.wakeObject)
				if result.Err != nil && (result.State != arm.Waiting || codeOf(result.Err) != "ServerBusy") {
					t.Fatalf("%s %v", result.State, result.Err)
				}
				w.advanceClock(arm.ReadRetryDelay(result.Err))
			}
			if got := len(w.listWrites()); got != 20 {
				t.Errorf("%s: %d requests in five minutes, one per 15 s are 20", test.reason, got)
			}
		})
	}
}
