package command

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

// TestExitCodes checks the exit codes of docs/book/plan.md.
func TestExitCodes(t *testing.T) {
	machine := func(verdict result.Verdict, action result.Action) result.Plan {
		return result.Plan{Objects: []result.Object{{Kind: "AzureMachine", Namespace: "default", Name: "m", Verdict: verdict,
			Changes: []result.Change{{Action: action, Resource: "/subscriptions/a/resourceGroups/b"}}}}}
	}
	instance := func(name string, verdict result.Verdict) result.Object {
		return result.Object{Kind: "AzureMachinePoolMachine", Namespace: "default", Name: name, Verdict: verdict,
			Changes: []result.Change{{Action: result.ActionDelete, Resource: "/subscriptions/a/resourceGroups/b"}}}
	}
	const agentPool = "/subscriptions/a/resourceGroups/b/providers/Microsoft.ContainerService/managedClusters/c/agentPools/p"
	aks := func(changes ...result.Change) result.Plan {
		for i := range changes {
			changes[i].Resource, changes[i].Type = agentPool, types.AgentPool
		}
		return result.Plan{Objects: []result.Object{{Kind: "AzureManagedMachinePool", Namespace: "default", Name: "p", Changes: changes}}}
	}
	tests := map[string]struct {
		reason      string
		plan        result.Plan
		code, never int
		// named are the replacements that the error of --never-replace names.
		named []string
	}{
		"nothing": {"nothing is written", result.Plan{}, 0, 0, nil},
		"report":  {"a report is no write", result.Plan{Objects: []result.Object{{Kind: "AzureCluster", Reports: []string{"Drifted"}}}}, 0, 0, nil},
		"new":     {"a new machine replaces none", machine("", result.ActionCreate), 2, 2, nil},
		"changed": {"a change in place replaces nothing", machine("", result.ActionChange), 2, 2, nil},
		"deleted": {"a machine goes and no other one comes", machine(result.VerdictDeleted, result.ActionDelete), 2, 2, nil},
		"refused": {"the manager would send the write", result.Plan{Objects: []result.Object{{Kind: "AzureCluster",
			Changes: []result.Change{{Action: result.ActionChange, Refused: "Conflict: no"}}}}}, 2, 2, nil},
		"replaced": {"the flag forbids exactly this", machine(result.VerdictReplaced, result.ActionDelete), 2, 1, []string{"AzureMachine default/m"}},
		"replaced instances": {"each instance of a pool is named", result.Plan{Objects: []result.Object{instance("p-1", result.VerdictReplaced),
			instance("p-2", result.VerdictReplaced)}}, 2, 1, []string{"AzureMachinePoolMachine default/p-1", "AzureMachinePoolMachine default/p-2"}},
		"fewer instances": {"an instance goes and no other one comes", result.Plan{Objects: []result.Object{instance("p-1", result.VerdictDeleted)}},
			2, 2, nil},
		"reimaged": {"AKS drains the nodes, and their local data is lost", aks(result.Change{Action: result.ActionChange, Reimages: true}), 2, 1,
			[]string{"the nodes of AzureManagedMachinePool default/p"}},
		"AKS pool in place": {"AKS changes tags of nodes that run", aks(result.Change{Action: result.ActionChange}), 2, 2, nil},
		"AKS pool anew": {"the nodes are other ones", aks(result.Change{Action: result.ActionDelete}, result.Change{Action: result.ActionCreate}), 2, 1,
			[]string{"AzureManagedMachinePool default/p"}},
		"AKS pool deleted": {"no other one comes", aks(result.Change{Action: result.ActionDelete}), 2, 2, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.plan.Complete()
			for never, want := range map[bool]int{false: test.code, true: test.never} {
				err := (&flags{neverReplace: never}).exitError(&test.plan, "")
				if got := environment.ExitCode(err); got != want {
					t.Errorf("%s: with --never-replace=%t: got %d, want %d", test.reason, never, got, want)
				}
				for _, name := range test.named {
					if never && (err == nil || !strings.Contains(err.Error(), name)) {
						t.Errorf("%s: the error %v does not name %s", test.reason, err, name)
					}
				}
				if got := environment.ExitCode((&flags{neverReplace: never}).exitError(&test.plan, "Azure did not answer 1 reads.")); got != 1 {
					t.Errorf("a plan without all answers of Azure is not complete: got %d, want 1", got)
				}
			}
		})
	}
}
