package deletion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const networkVersion = "2024-05-01"

// refusals are Azure's errors for a DELETE that a person has to make possible, and the advice in the condition.
var refusals = map[string]struct {
	status       int
	code, advice string
}{
	"lock":       {409, "ScopeLocked", "remove the lock"},
	"policy":     {403, "RequestDisallowedByPolicy", "exempt it from the policy"},
	"permission": {403, "AuthorizationFailed", "give AzureClusterIdentity "},
	"unknown":    {400, "SomethingNew", "correct the cause of Azure's refusal"},
}

// refuseDelete makes Azure refuse the next DELETE of a resource.
func refuseDelete(stage *harness.Stage, id string, status int, code string) {
	stage.T.Helper()
	rule := fault.Rule{Method: "DELETE", ID: id, Kind: fault.Status, Status: status, Code: code, Message: "Azure's reason"}
	if err := stage.Azure.AddFault(rule); err != nil {
		stage.T.Fatal(err)
	}
}

// advanceToRetry advances the clock to the retry of a refused request.
func advanceToRetry(stage *harness.Stage, object client.Object) {
	stage.T.Helper()
	stage.AdvanceClock(time.Hour)
	stage.WakeControllers(object)
}

// TestRefusedCluster makes Azure refuse to delete the group of a cluster: the condition has the cause and every way out, and the
// cluster goes once the cause is gone.
func TestRefusedCluster(t *testing.T) {
	t.Parallel()
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			before := stage.Azure.ListResources()
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			stage.CreateCluster(stage.AzureCluster("c1"))
			stage.WaitClusterProvisioned("c1")
			refuseDelete(stage, "*/resourcegroups/c1", refusal.status, refusal.code)
			deleteObjects(stage, newCluster(), azureCluster())
			message := waitBlocked(stage, azureCluster(), infrav1.DeletionFailedReason)
			checkMessage(t, message, refusal.code, "Azure's reason", refusal.advice,
				"az group delete --subscription "+stage.Azure.SubscriptionID+" --yes --name c1 && kubectl patch")
			advanceToRetry(stage, azureCluster())
			waitGone(stage, azureCluster())
			if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
				t.Errorf("resources left behind (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRefusedMachine makes Azure refuse to delete the VM of a machine.
func TestRefusedMachine(t *testing.T) {
	t.Parallel()
	stage, _, _ := bringUpCluster(t, harness.ManagerOptions{})
	first := true
	for name, refusal := range refusals {
		refuseDelete(stage, "*/virtualmachines/m2", refusal.status, refusal.code)
		if first {
			// The deletion itself starts a reconciliation. Woken as well, the VM could be refused and deleted before the test has read the
			// reason.
			deleteObjects(stage, newMachine("m2"), azureMachine("m2"))
			first = false
		} else {
			advanceToRetry(stage, azureMachine("m2"))
		}
		harness.WaitFor(stage, &infrav1.AzureMachine{}, "m2", "with a message about "+name, func(m *infrav1.AzureMachine) bool {
			return harness.FindCondition(m, infrav1.ReadyCondition).Reason == infrav1.DeletionFailedReason &&
				containsAll(harness.FindCondition(m, infrav1.ReadyCondition).Message, refusal.code, refusal.advice, "virtualMachines/m2",
					"kubectl patch")
		})
		waitBlocked(stage, azureMachine("m2"), infrav1.DeletionFailedReason)
	}
	advanceToRetry(stage, azureMachine("m2"))
	waitGone(stage, azureMachine("m2"))
	if status, _ := stage.Azure.GetResource(vmPath+"m2", "2024-07-01"); status != 404 {
		t.Errorf("the VM exists: GET answers %d", status)
	}
}

// TestRefusedPool makes Azure refuse to delete a pool, and then the AKS cluster.
func TestRefusedPool(t *testing.T) {
	t.Parallel()
	stage := standingManaged(t)
	refuseDelete(stage, "*/agentpools/pool1", 403, "AuthorizationFailed")
	deleteObjects(stage, machinePool("c1-pool1"), azurePool("c1-pool1"))
	checkMessage(t, waitBlocked(stage, azurePool("c1-pool1"), infrav1.DeletionFailedReason), "AuthorizationFailed",
		"give AzureClusterIdentity ",
		"agentPools/pool1 && kubectl patch")
	advanceToRetry(stage, azurePool("c1-pool1"))
	waitGone(stage, azurePool("c1-pool1"))
	refuseDelete(stage, "*/resourcegroups/c1", 409, "ScopeLocked")
	deleteObjects(stage, newCluster(), machinePool("c1-pool0"), azurePool("c1-pool0"), controlPlane())
	checkMessage(t, waitBlocked(stage, controlPlane(), infrav1.DeletionFailedReason), "ScopeLocked", "remove the lock",
		"az group delete --subscription "+stage.Azure.SubscriptionID+" --yes --name c1 && kubectl patch")
	advanceToRetry(stage, controlPlane())
	waitGone(stage, controlPlane())
}

// TestInUse puts another user's interface into the subnet of a cluster in a brought group. It expects that the condition names the
// interface that keeps the subnet, that the provider leaves the interface alone, and that the cluster is deleted once the interface is.
func TestInUse(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutResource("resourceGroups/c1", "2021-04-01", map[string]any{"location": "eastus"})
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	theirs := "resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/theirs"
	stage.Azure.PutResource(theirs, networkVersion, map[string]any{"location": "eastus", "properties": map[string]any{
		"ipConfigurations": []map[string]any{{"name": "a", "properties": map[string]any{"subnet": map[string]any{
			"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet",
		}}}},
	}})
	deleteObjects(stage, newCluster(), azureCluster())
	checkMessage(t, waitBlocked(stage, azureCluster(), infrav1.WaitingReason), "theirs", "delete or detach the resources that still use it",
		"az resource delete --ids /subscriptions/", "/virtualNetworks/c1-vnet ", " && kubectl patch")
	if message := waitBlocked(stage, azureCluster(), infrav1.WaitingReason); strings.Contains(message, "az group delete") {
		t.Errorf("the group is the user's: %s", message)
	}
	if status, _ := stage.Azure.GetResource(theirs, networkVersion); status != 200 {
		t.Errorf("what is theirs is gone: GET answers %d", status)
	}
	stage.Azure.DeleteResource(theirs, networkVersion)
	advanceToRetry(stage, azureCluster())
	waitGone(stage, azureCluster())
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
}

// TestRevoked deletes a cluster whose identity Microsoft Entra ID does not accept any more.
func TestRevoked(t *testing.T) {
	t.Parallel()
	stage, manager, before := bringUpCluster(t, harness.ManagerOptions{})
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	secret := func(value string) {
		t.Helper()
		forceDeletion(stage, withName(newCredential(), harness.IdentityName))
		stage.CreateCredential(value)
	}
	secret("expired")
	stage.StartManager(harness.ManagerOptions{})
	deleteObjects(stage, newCluster(), azureCluster(), newMachine("m1"), azureMachine("m1"), newMachine("m2"), azureMachine("m2"))
	for _, name := range []string{"m1", "m2"} {
		checkMessage(t, waitBlocked(stage, azureMachine(name), infrav1.CredentialsInvalidReason), "give AzureClusterIdentity ",
			"a credential that Microsoft Entra ID accepts", vmPath+name, "kubectl patch")
	}
	secret(stage.Azure.ClientSecret)
	advanceToRetry(stage, azureMachine("m1"))
	advanceToRetry(stage, azureMachine("m2"))
	waitGone(stage, azureMachine("m1"), azureMachine("m2"), azureCluster())
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}
