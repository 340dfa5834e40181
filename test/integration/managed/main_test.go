// Package managed_test takes AKS clusters through their life: made, changed, moved, adopted, drifted, refused, killed half way, and
// deleted. It merges each snippet of docs/book/aks into the flavor's objects and checks the values that Azure then has.
package managed_test

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// play plays a story as virtual.PlayComplete does, with one more region and with managers that read everything from Azure in each sync.
func play(t *testing.T, story func(s *virtual.Scenario)) {
	t.Helper()
	virtual.PlayWith(t, virtual.Options{AtOnce: true, Complete: true,
		Azure: server.Options{Seed: 7, Locations: []string{"eastus", "westus", "westeurope"}, Throttle: harness.Unlimited}},
		func(s *virtual.Scenario) {
			s.Full = 0
			s.Resync = 30 * time.Second
			story(s)
		})
}
