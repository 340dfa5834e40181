package scale_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestCallsPerMachine counts what machines cost that come all at once: exactly the writes that make them, and reads that
// grow with the machines no faster than by what each one has of its own.
func TestCallsPerMachine(t *testing.T) {
	t.Parallel()
	const controlPlanes, workers = 3, 9
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")

	mark, before, red := stage.Azure.MarkRequests(), len(manager.KubernetesWrites()), len(manager.KubernetesReads())
	var names []string
	create := func(name string, role harness.Role) {
		stage.CreateMachine(stage.AzureMachine("c1", name), role, "")
		names = append(names, name)
	}
	for i := range controlPlanes {
		create(fmt.Sprintf("c1-cp-%d", i), harness.ControlPlane)
	}
	for i := range workers {
		create(fmt.Sprintf("c1-md-%d", i), harness.Worker)
	}
	for _, name := range names {
		stage.WaitMachineProvisioned(name)
	}

	got := countRequests(stage.Azure, mark)
	want := map[string]int{
		"PUT Microsoft.Network/networkInterfaces":             controlPlanes + workers,
		"PUT Microsoft.Compute/virtualMachines":               controlPlanes + workers,
		"PUT Microsoft.Network/loadBalancers/inboundNatRules": controlPlanes,
	}
	if diff := cmp.Diff(want, got.Writes); diff != "" {
		t.Errorf("writes to Azure (-want +got):\n%s", diff)
	}
	// A machine has its interface and its VM read before they are made, its VM while Azure is at it, and its disk once that
	// is there.
	const machines = controlPlanes + workers
	if most := 10 + 5*machines; got.countReads() > most {
		t.Errorf("%d reads of Azure for %d machines, want at most %d: gets %v, lists %v, polls %d", got.countReads(), machines, most, got.Gets,
			got.Lists, got.Polls)
	}
	if sumCounts(got.Lists) >= machines {
		t.Errorf("collections were read %v times for %d machines: their reads are shared", got.Lists, machines)
	}
	if got.Throttled > 0 || got.Refused > 0 {
		t.Errorf("%d requests were throttled and %d refused", got.Throttled, got.Refused)
	}

	written := map[string]int{}
	for _, write := range manager.KubernetesWrites()[before:] {
		for _, kind := range []string{"secrets", "azuremachines"} {
			if strings.Contains(write, "/"+kind) {
				written[kind]++
			}
		}
	}
	// The Secret with azure.json; and of the AzureMachine finalizer, recorded plan, status of the resources that are being created,
	// providerID with annotations, status Ready. One more is for a reconciliation that comes between.
	if written["secrets"] != machines || written["azuremachines"] > 6*machines {
		t.Errorf("%v writes to Kubernetes for %d machines, want one Secret each and at most 6 of the AzureMachine", written, machines)
	}
	// The Secrets with bootstrap data and with azure.json, each once, or again as long as the watch has not delivered it.
	secrets := 0
	for _, path := range manager.KubernetesReads()[red:] {
		if path == "/api/v1/namespaces/"+stage.Namespace {
			t.Error("the Namespace was read from the API server, and each reconciliation needs its annotations: it has to come from the cache")
		}
		if strings.Contains(path, "/secrets/") {
			secrets++
		}
	}
	if secrets < 2*machines || secrets > 5*machines {
		t.Errorf("%d reads of Secrets for %d machines, want two for each and at most 5", secrets, machines)
	}
	t.Logf("%d reads of Secrets", secrets)
	t.Logf("%d reads (gets %v, lists %v, polls %d), writes to Kubernetes %v", got.countReads(), got.Gets, got.Lists, got.Polls, written)
}

// makeWorkers makes the cluster c1 with workers that are called m0 and so on, and waits until all exist.
func makeWorkers(stage *harness.Stage, machines int) {
	stage.T.Helper()
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	for i := range machines {
		stage.CreateMachine(stage.AzureMachine("c1", fmt.Sprintf("m%d", i)), harness.Worker, "")
	}
	for i := range machines {
		stage.WaitMachineProvisioned(fmt.Sprintf("m%d", i))
	}
}
