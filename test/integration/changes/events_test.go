package changes_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestEvents creates, changes and deletes a cluster and a machine, and compares the events that kubectl describe shows of them.
func TestEvents(t *testing.T) {
	virtual.PlayComplete(t, checkEvents)
}

func checkEvents(s *virtual.Scenario) {
	stage, t := s.Stage, s.T
	manager := s.StartProvider()
	stage.CreateIdentity()
	if err := stage.Azure.AddFault(fault.Rule{Method: "PUT", ID: "*/virtualnetworks/c1-vnet", Count: -1, Kind: fault.Status, Status: 400,
		Code: "InvalidParameter", Message: "The value is wrong."}); err != nil {
		t.Fatal(err)
	}
	const refused = "Warning Failed PUT virtualNetworks/c1-vnet: InvalidParameter: The value is wrong. (Azure request "
	stage.CreateCluster(stage.AzureCluster("c1"))
	made := []string{
		"Normal Created created loadBalancers/c1-public-lb",
		"Normal Created created natGateways/c1-node-natgw",
		"Normal Created created networkSecurityGroups/c1-controlplane-nsg",
		"Normal Created created networkSecurityGroups/c1-node-nsg",
		"Normal Created created publicIPAddresses/pip-c1-apiserver",
		"Normal Created created publicIPAddresses/pip-c1-node-natgw",
		"Normal Created created resourceGroups/c1",
		"Normal Created created routeTables/c1-node-routetable",
	}
	waitEvents(stage, "AzureCluster", "c1", append(slices.Clone(made), refused))

	// Another process is refused for the same cause, and so is the next try.
	manager.StopManager()
	mark := stage.Azure.MarkRequests()
	s.StartProvider()
	tries := func() int {
		return len(slices.DeleteFunc(stage.Azure.RequestsSince(mark), func(request string) bool {
			return !strings.HasPrefix(request, "PUT") || !strings.HasSuffix(request, "c1-vnet 400")
		}))
	}
	stage.Eventually("another process is refused", func() bool { return tries() > 0 })
	again := tries()
	stage.AdvanceClock(10 * time.Minute)
	wakeCluster(stage)
	stage.Eventually("the next try is refused", func() bool { return tries() > again })
	stage.Azure.ClearFaults()
	stage.AdvanceClock(10 * time.Minute)
	wakeCluster(stage)
	stage.WaitClusterProvisioned("c1")
	story := append(made,
		"Normal Created created subnets/c1-controlplane-subnet",
		"Normal Created created subnets/c1-node-subnet",
		"Normal Created created virtualNetworks/c1-vnet",
		"Normal Ready everything is in place",
		refused,
	)
	waitEvents(stage, "AzureCluster", "c1", story)

	// Outside the provider, the address of the API server changes, which the provider leaves to people, and a name, which it repairs.
	for resource, patch := range map[string]map[string]any{
		"publicipaddresses/pip-c1-apiserver": {"properties": map[string]any{"dnsSettings": map[string]any{"domainNameLabel": "theirs"}}},
		"routetables/c1-node-routetable":     {"tags": map[string]any{"Name": "theirs"}},
	} {
		id := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourcegroups/c1/providers/microsoft.network/" + resource
		if err := stage.Azure.AddFault(fault.Rule{Kind: fault.Edit, ID: id, Now: true, Patch: patch}); err != nil {
			t.Fatal(err)
		}
	}
	stage.AdvanceClock(time.Hour)
	wakeCluster(stage)
	waitEvents(stage, "AzureCluster", "c1", append(story,
		"Normal Repaired repaired routeTables/c1-node-routetable: tags.Name",
		"Warning Drifted publicIPAddresses/pip-c1-apiserver was changed in Azure by another program or user: properties.dnsSettings.domainNameLabel"))

	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	stage.WaitMachineProvisioned("m1")
	waitEvents(stage, "AzureMachine", "m1", []string{
		"Normal Created created networkInterfaces/m1-nic", "Normal Created created virtualMachines/m1", "Normal Ready everything is in place",
	})
	stage.DeleteMachine("m1")
	stage.Eventually("the deletion of the machine has an event", func() bool {
		return slices.Contains(stage.ListEvents("AzureMachine", "m1"), "Normal Deleted deleted virtualMachines/m1")
	})
	stage.DeleteCluster("c1")
	stage.Eventually("the deletion of the cluster has an event", func() bool {
		return slices.Contains(stage.ListEvents("AzureCluster", "c1"), "Normal Deleted deleted resourceGroups/c1")
	})
}

func wakeCluster(stage *harness.Stage) {
	stage.T.Helper()
	azureCluster := &infrav1.AzureCluster{}
	azureCluster.Name = "c1"
	stage.WakeControllers(azureCluster)
}

// waitEvents waits until an object has as many events as wanted, and compares them in alphabetical order: operations that run at the
// same time end in any order.
func waitEvents(stage *harness.Stage, kind, name string, want []string) {
	stage.T.Helper()
	var got []string
	defer func() {
		if stage.T.Failed() {
			stage.T.Logf("events of %s %s:\n%s", kind, name, strings.Join(got, "\n"))
		}
	}()
	stage.Eventually("all events exist", func() bool {
		got = slices.DeleteFunc(stage.ListEvents(kind, name), func(event string) bool { return strings.Contains(event, "OwnerRefNotSet") })
		slices.Sort(got)
		return len(got) >= len(want)
	})
	want = slices.Sorted(slices.Values(want))
	if diff := cmp.Diff(want, got); diff != "" {
		stage.T.Errorf("events of %s %s (-want +got):\n%s", kind, name, diff)
	}
}
