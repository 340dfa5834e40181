package result

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestVerdictsOfMachinesAndInstances compares the verdict of an AzureMachine and of an instance of a pool with the same changes.
func TestVerdictsOfMachinesAndInstances(t *testing.T) {
	const refusal = "Conflict: the VM is being updated"
	tests := map[string]struct {
		reason  string
		action  Action
		refused string
		reports []string
		verdict Verdict
		why     string
	}{
		"created":            {"a VM comes", ActionCreate, "", nil, VerdictNew, ""},
		"deleted":            {"a VM goes", ActionDelete, "", nil, VerdictDeleted, ""},
		"changed":            {"a VM stays", ActionChange, "", nil, VerdictInPlace, ""},
		"restarted":          {"a VM stays", ActionRun, "", nil, VerdictInPlace, ""},
		"refused deletion":   {"Azure's reason is shown", ActionDelete, refusal, nil, VerdictRefused, refusal},
		"refused change":     {"Azure's reason is shown", ActionChange, refusal, nil, VerdictRefused, refusal},
		"report":             {"the manager changes nothing and its report is shown", "", "", []string{"vmSize cannot change"}, VerdictRefused, "vmSize cannot change"},
		"report of a change": {"a VM that changes is not refused", ActionChange, "", []string{"vmSize cannot change"}, VerdictInPlace, ""},
	}
	const group = "/subscriptions/a/resourceGroups/b/providers/Microsoft.Compute/"
	resources := map[string]arm.ID{"AzureMachine": group + "virtualMachines/m", "AzureMachinePoolMachine": group + "virtualMachineScaleSets/p/virtualMachines/0"}
	for name, test := range tests {
		for kind, id := range resources {
			t.Run(name+"/"+kind, func(t *testing.T) {
				o := Object{Kind: kind, Namespace: "default", Name: "m", Reports: test.reports}
				if test.action != "" {
					o.Changes = []Change{{Action: test.action, Resource: id, Type: id.Type(), Refused: test.refused}}
				}
				plan := Plan{Objects: []Object{o}}
				plan.Complete()
				if got := plan.Objects[0]; got.Verdict != test.verdict || got.Why != test.why {
					t.Errorf("%s: got %q because of %q, want %q because of %q", test.reason, got.Verdict, got.Why, test.verdict, test.why)
				}
				if replaced := plan.Replacements(); len(replaced) > 0 {
					t.Errorf("%s: %v count as replaced", test.reason, replaced)
				}
			})
		}
	}
}
