// Package pools_test takes scale sets through their life: made, scaled, rolled, broken and deleted, with what Cluster API does
// about Machines played.
package pools_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
