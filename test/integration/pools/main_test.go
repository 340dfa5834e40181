// Package pools_test takes scale sets through their life: made, scaled, rolled, broken and deleted. It simulates the actions of Cluster
// API on Machines.
package pools_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// newStage returns a stage with a manager, the played Machines of pools, and the network of cluster c1.
func newStage(t *testing.T) *harness.Stage {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.PlayPoolMachines(nil)
	stage.CreateCluster(stage.AzureCluster("c1"))
	return stage
}
