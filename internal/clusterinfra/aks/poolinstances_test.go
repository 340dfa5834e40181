package aks

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestHasInstances(t *testing.T) {
	const running = `{"properties": {"provisioningState": "Succeeded", "powerState": {"code": "Running"}}}`
	for name, test := range map[string]struct {
		reason   string
		pool     arm.Result
		observed string
		want     bool
	}{
		"in place":            {"it has its VMs", arm.Result{State: arm.Ready}, running, true},
		"not managed":         {"it is used as it is", arm.Result{State: arm.Foreign}, running, true},
		"being changed":       {"AKS adds and removes VMs meanwhile", arm.Result{State: arm.Updating}, running, true},
		"change refused":      {"AKS's autoscaler goes on", arm.Result{State: arm.Failed}, running, true},
		"waiting":             {"the cluster is busy, and its VMs run", arm.Result{State: arm.Waiting}, running, true},
		"blocked":             {"a change of the cluster is refused, and the VMs run", arm.Result{State: arm.Blocked}, running, true},
		"creation refused":    {"there is no pool", arm.Result{State: arm.Failed}, "", false},
		"not created yet":     {"there is no pool", arm.Result{State: arm.Blocked}, "", false},
		"observed and absent": {"there is no pool", arm.Result{State: arm.Absent}, "", false},
		"not read":            {"it may be gone", arm.Result{State: arm.Waiting, ReadFailed: true}, running, false},
		"being created":       {"it has no Nodes yet", arm.Result{State: arm.Creating}, running, false},
		"created with its cluster": {"it has no Nodes yet", arm.Result{State: arm.Waiting},
			`{"properties": {"provisioningState": "Creating"}}`, false},
		"stopped": {"it has no Nodes, and keeps its number", arm.Result{State: arm.Failed},
			`{"properties": {"provisioningState": "Succeeded", "powerState": {"code": "Stopped"}}}`, false},
		"being deleted": {"its Nodes go", arm.Result{State: arm.Deleting}, running, false},
	} {
		t.Run(name, func(t *testing.T) {
			pool := test.pool
			if test.observed != "" {
				pool.Observed = json.RawMessage(test.observed)
			}
			if got := hasInstances(pool); got != test.want {
				t.Errorf("VMs are read: %t, want %t: %s", got, test.want, test.reason)
			}
		})
	}
}
