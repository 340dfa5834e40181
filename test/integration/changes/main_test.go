// Package changes_test changes the specs of provisioned clusters as users do, and checks the effect in Azure.
package changes_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// clusterWithMachine makes the cluster c1 with the machine m1, and waits until both are in place.
func clusterWithMachine(stage *harness.Stage, role harness.Role, zone string) {
	stage.T.Helper()
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), role, zone)
	stage.WaitMachineProvisioned("m1")
}
