// Package managed_test takes AKS clusters through their life: made, changed, moved, adopted, drifted, refused, killed half way, and
// deleted. It merges each snippet of docs/book/aks into the flavor's objects and checks the values that Azure then has.
package managed_test

import (
	"os"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// play plays a story as virtual.PlayComplete does, with the region of a snippet of the book. Managers read everything from Azure every 30 seconds.
func play(t *testing.T, story func(s *virtual.Scenario)) {
	t.Helper()
	options := virtual.CompleteOptions()
	options.Azure.Locations = append(options.Azure.Locations, "westeurope")
	virtual.PlayWith(t, options, func(s *virtual.Scenario) {
		s.Resync, s.Full = 30*time.Second, 0
		story(s)
	})
}
