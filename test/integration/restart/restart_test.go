package restart_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// slow is a time scale at which a VM takes long enough to come up that another manager finds it half made.
const slow = 0.01

// TestKilledAtEveryWrite kills the manager at each write that makes a cluster with two machines, once before Azure got the
// write and once after Azure took it, with the operation still running, and starts another one. What comes up is what an undisturbed run makes: the same
// resources, none of them twice.
func TestKilledAtEveryWrite(t *testing.T) {
	undisturbed := harness.NewStage(t, environment)
	undisturbed.StartManager(harness.ManagerOptions{})
	bringUp(undisturbed)
	writes := undisturbed.Azure.Writes(0)
	resources := undisturbed.Azure.Resources()
	t.Logf("an undisturbed run sends %d writes", len(writes))

	harness.AtEveryWrite(t, len(writes), func(t *testing.T, kill harness.ManagerOptions) {
		timeScale := slow
		if kill.KillBefore {
			timeScale = 0
		}
		stage := harness.NewSlowStage(t, environment, timeScale)
		restarted := stage.RestartWhenKilled(stage.StartManager(kill))
		bringUp(stage)
		restarted()
		if diff := cmp.Diff(distinct(writes), distinct(stage.Azure.Writes(0))); diff != "" {
			t.Errorf("IDs written to (-undisturbed +killed):\n%s", diff)
		}
		if diff := cmp.Diff(resources, stage.Azure.Resources()); diff != "" {
			t.Errorf("resources (-undisturbed +killed):\n%s", diff)
		}
		stage.DeleteCluster("c1", "c1-cp", "c1-md")
		if diff := cmp.Diff([]string(nil), stage.Azure.Resources()); diff != "" {
			t.Errorf("resources left behind (-want +got):\n%s", diff)
		}
	})
}

// TestKilledWhileDeleting kills the manager at each write that deletes a cluster in a group that the user brought, where
// every resource is deleted by itself.
func TestKilledWhileDeleting(t *testing.T) {
	undisturbed := harness.NewStage(t, environment)
	undisturbed.StartManager(harness.ManagerOptions{})
	bringGroup(undisturbed)
	bringUp(undisturbed)
	before := undisturbed.Azure.Mark()
	undisturbed.DeleteCluster("c1", "c1-cp", "c1-md")
	deletes := undisturbed.Azure.Writes(before)
	t.Logf("an undisturbed run sends %d writes", len(deletes))

	for _, k := range []int{1, len(deletes) / 4, len(deletes) / 2, len(deletes) * 3 / 4, len(deletes)} {
		t.Run(fmt.Sprintf("write %d done", k), func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			bringGroup(stage)
			first := stage.StartManager(harness.ManagerOptions{})
			bringUp(stage)
			if err := first.Stop(); err != nil {
				t.Fatal(err)
			}
			restarted := stage.RestartWhenKilled(stage.StartManager(harness.ManagerOptions{KillAtWrite: k}))
			stage.DeleteCluster("c1", "c1-cp", "c1-md")
			restarted()
			if diff := cmp.Diff([]string{"resourceGroups/c1"}, stage.Azure.Resources()); diff != "" {
				t.Errorf("only the user's group is left (-want +got):\n%s", diff)
			}
		})
	}
}

// bringUp makes a cluster with a control-plane machine and a worker.
func bringUp(stage *harness.Stage) {
	stage.T.Helper()
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.CreateMachine(stage.AzureMachine("c1", "c1-cp"), harness.ControlPlane, "1")
	stage.CreateMachine(stage.AzureMachine("c1", "c1-md"), harness.Worker, "")
	stage.WaitClusterProvisioned("c1")
	stage.WaitMachineProvisioned("c1-cp")
	stage.WaitMachineProvisioned("c1-md")
}

func bringGroup(stage *harness.Stage) {
	stage.T.Helper()
	stage.Azure.Put("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"})
}

// distinct are the writes, each once, sorted.
func distinct(writes []string) []string {
	out := slices.Clone(writes)
	slices.Sort(out)
	return slices.Compact(out)
}
