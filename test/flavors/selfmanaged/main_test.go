// Package selfmanaged_test renders every template of a self-managed cluster with clusterctl and brings it up: it becomes
// Ready, writes nothing over ten resyncs, and leaves nothing behind. Templates are what their sources render to, and the
// book explains their variables.
package selfmanaged_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) {
	os.Exit(harness.RunTests(m, &environment, "--feature-gates=EdgeZone=true"))
}
