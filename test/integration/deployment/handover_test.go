package deployment_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// slow is a time scale at which the leader ends while Azure still makes things.
const slow = 0.02

// TestHandOver ends the leader of two managers while it makes a cluster: the other one ends the work, and makes nothing twice.
func TestHandOver(t *testing.T) {
	installManifests(t)
	binary := harness.BuildManager(t)
	undisturbed := harness.NewStage(t, environment)
	undisturbed.StartManager(harness.ManagerOptions{})
	bringUp(undisturbed, func() {})
	writes, resources := listDistinctWrites(undisturbed.Azure.WritesSince(0)), undisturbed.Azure.ListResources()

	for name, test := range map[string]struct {
		reason string
		signal syscall.Signal
		// clean is whether the leader gives the lease back.
		clean bool
	}{
		"asked to end": {"a rollout and a drained node end pods like this", syscall.SIGTERM, true},
		"killed":       {"a node that dies ends pods like this", syscall.SIGKILL, false},
	} {
		t.Run(name, func(t *testing.T) {
			stage := harness.NewSlowStage(t, environment, slow)
			first := startPod(stage, t, binary)
			stage.Eventually("the first manager leads", func() bool { return isLeader(first) })
			second := startPod(stage, t, binary)
			var ended time.Time
			bringUp(stage, func() {
				stage.Eventually("half of the writes are sent",
					func() bool { return len(listDistinctWrites(stage.Azure.WritesSince(0))) >= len(writes)/2 })
				if isLeader(second) {
					t.Fatal("both managers lead")
				}
				before := readLeaseHolder(t)
				err := first.SignalAndWait(test.signal)
				ended = time.Now()
				if test.clean && err != nil {
					t.Errorf("%s: the manager ended with %v", test.reason, err)
				}
				if after := readLeaseHolder(t); test.clean && after == before {
					t.Errorf("%s: the lease is still %s's, which has ended", test.reason, after)
				}
				stage.Eventually("the second manager leads", func() bool { return isLeader(second) })
				t.Logf("the second manager led %.1f s after the first had ended", time.Since(ended).Seconds())
			})
			if diff := cmp.Diff(writes, listDistinctWrites(stage.Azure.WritesSince(0))); diff != "" {
				t.Errorf("%s: IDs written to (-undisturbed +handed over):\n%s", test.reason, diff)
			}
			if diff := cmp.Diff(resources, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: resources (-undisturbed +handed over):\n%s", test.reason, diff)
			}
			stage.DeleteCluster("c1", "c1-cp", "c1-md")
			if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: resources left behind (-want +got):\n%s", test.reason, diff)
			}
			if err := second.SignalAndWait(syscall.SIGTERM); err != nil {
				t.Errorf("the second manager ended with %v", err)
			}
		})
	}
}

// bringUp creates a cluster with a control-plane machine and a worker, calls meanwhile, and waits until they are provisioned.
func bringUp(stage *harness.Stage, meanwhile func()) {
	stage.T.Helper()
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.CreateMachine(stage.AzureMachine("c1", "c1-cp"), harness.ControlPlane, "1")
	stage.CreateMachine(stage.AzureMachine("c1", "c1-md"), harness.Worker, "")
	meanwhile()
	stage.WaitClusterProvisioned("c1")
	stage.WaitMachineProvisioned("c1-cp")
	stage.WaitMachineProvisioned("c1-md")
}

// listDistinctWrites returns the writes, each once, sorted.
func listDistinctWrites(writes []string) []string {
	out := slices.Clone(writes)
	slices.Sort(out)
	return slices.Compact(out)
}

// readLeaseHolder returns the holder of the lease, "" if there is none.
func readLeaseHolder(t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := environment.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "controller-leader-election-capz"},
		lease); err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
