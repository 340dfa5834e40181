// Package migration_test migrates clusters of the established provider (CAPZ) to this provider, for every flavor but those
// that need the feature gate APIServerILB.
package migration_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const gates = "--feature-gates=EdgeZone=true"

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment, gates)) }
