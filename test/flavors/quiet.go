package flavors

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// CheckQuiet watches a cluster that is in order for some resyncs and fails the test when anything is written, to Azure or to
// Kubernetes. The stage's manager has to have harness.SyncPeriod. It returns the reads per resync.
//
// It begins to count once two resyncs have written nothing: until then what made the last machine Ready may still be on
// its way into the manager's cache, and a reconciliation that has not seen it writes the same status again.
func CheckQuiet(stage *harness.Stage, manager *harness.Manager, resyncs int) int {
	stage.T.Helper()
	waitUntilQuiet(stage, manager)
	begin, before, machines := stage.Azure.MarkRequests(), len(manager.KubernetesWrites()), machineStatuses(stage)
	waitResyncs(stage, resyncs)
	if writes := stage.Azure.WritesSince(begin); len(writes) > 0 {
		stage.T.Errorf("nothing changed, but Azure was written to: %q", writes)
	}
	if writes := manager.KubernetesWrites()[before:]; len(writes) > 0 {
		stage.T.Errorf("nothing changed, but Kubernetes was written to: %q\nmachines (-before +after):\n%s", writes,
			cmp.Diff(machines, machineStatuses(stage)))
	}
	return len(stage.Azure.RequestsSince(begin)) / resyncs
}

// QuietAgain is Quiet for a cluster whose manifests are applied again, as Again does it, before it is watched.
func QuietAgain(stage *harness.Stage, manager *harness.Manager, resyncs int, objects []*unstructured.Unstructured) int {
	stage.T.Helper()
	waitUntilQuiet(stage, manager)
	begin := stage.Azure.MarkRequests()
	ApplyAgain(stage, objects)
	reads := CheckQuiet(stage, manager, resyncs)
	if writes := stage.Azure.WritesSince(begin); len(writes) > 0 {
		stage.T.Errorf("the same was applied again, but Azure was written to: %q", writes)
	}
	return reads
}

// waitUntilQuiet looks at a cluster until nothing is written any more.
func waitUntilQuiet(stage *harness.Stage, manager *harness.Manager) {
	stage.T.Helper()
	const quiet, most = 2, 20
	for calm, round := 0, 0; calm < quiet; round++ {
		if round == most {
			stage.T.Fatalf("%d resyncs after everything was Ready Kubernetes is still written to: %q", most, manager.KubernetesWrites())
		}
		before := len(manager.KubernetesWrites())
		waitResyncs(stage, 1)
		if calm++; len(manager.KubernetesWrites()) > before {
			calm = 0
		}
	}
}

// waitResyncs starts a resync of all objects and waits until the cluster and the machines are reconciled, as many times as times says.
func waitResyncs(stage *harness.Stage, times int) {
	stage.T.Helper()
	for range times {
		stage.ResyncUntil("the cluster and the machines are reconciled again", func(requests []string) bool {
			for _, part := range []string{"/virtualNetworks", "/networkInterfaces", "/virtualMachines"} {
				if !slices.ContainsFunc(requests, func(request string) bool { return strings.Contains(request, part) }) {
					return false
				}
			}
			return true
		})
	}
}

// machineStatuses returns those of all AzureMachines.
func machineStatuses(stage *harness.Stage) map[string]infrav1.AzureMachineStatus {
	stage.T.Helper()
	list := &infrav1.AzureMachineList{}
	if err := stage.Client.List(stage.T.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
		stage.T.Fatal(err)
	}
	out := map[string]infrav1.AzureMachineStatus{}
	for _, machine := range list.Items {
		out[machine.Name] = machine.Status
	}
	return out
}
