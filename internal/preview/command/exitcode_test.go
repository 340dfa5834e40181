package command

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

// TestExitCodes checks the exit codes of docs/book/plan.md.
func TestExitCodes(t *testing.T) {
	machine := func(verdict result.Verdict, action result.Action) result.Plan {
		return result.Plan{Objects: []result.Object{{Kind: "AzureMachine", Namespace: "default", Name: "m", Verdict: verdict,
			Changes: []result.Change{{Action: action, Resource: "/subscriptions/a/resourceGroups/b"}}}}}
	}
	tests := map[string]struct {
		reason      string
		plan        result.Plan
		code, never int
	}{
		"nothing": {"nothing is written", result.Plan{}, 0, 0},
		"report":  {"a report is no write", result.Plan{Objects: []result.Object{{Kind: "AzureCluster", Reports: []string{"Drifted"}}}}, 0, 0},
		"new":     {"a new machine replaces none", machine("", result.ActionCreate), 2, 2},
		"changed": {"a change in place replaces nothing", machine("", result.ActionChange), 2, 2},
		"deleted": {"a machine goes and no other one comes", machine(result.VerdictDeleted, result.ActionDelete), 2, 2},
		"refused": {"the manager would send the write", result.Plan{Objects: []result.Object{{Kind: "AzureCluster",
			Changes: []result.Change{{Action: result.ActionChange, Refused: "Conflict: no"}}}}}, 2, 2},
		"replaced": {"the flag forbids exactly this", machine(result.VerdictReplaced, result.ActionDelete), 2, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.plan.Complete()
			for never, want := range map[bool]int{false: test.code, true: test.never} {
				if got := environment.ExitCode((&flags{neverReplace: never}).exitError(&test.plan, "")); got != want {
					t.Errorf("%s: with --never-replace=%t: got %d, want %d", test.reason, never, got, want)
				}
				if got := environment.ExitCode((&flags{neverReplace: never}).exitError(&test.plan, "Azure did not answer 1 reads.")); got != 1 {
					t.Errorf("a plan without all answers of Azure is not complete: got %d, want 1", got)
				}
			}
		})
	}
}
