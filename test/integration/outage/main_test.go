// Package outage_test has Azure, Entra ID or the identity fail while clusters exist: an object that is not known to be broken must not
// look broken, because a MachineHealthCheck deletes machines that do.
package outage_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
