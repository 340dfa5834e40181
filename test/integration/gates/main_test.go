// Package gates_test turns feature gates on for clusters that were made without them, as users do who start the manager with another
// Deployment. Admission changes for the whole API server, so the package has one test.
package gates_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
