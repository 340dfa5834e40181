// Package restart_test kills the manager after every write to Azure: the next one ends the work, in creation and deletion,
// and makes nothing twice.
package restart_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &environment)) }
