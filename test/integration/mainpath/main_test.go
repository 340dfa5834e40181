// Package mainpath_test takes a cluster from nothing to Ready and back to nothing: the default one, a private one, and those in a
// resource group or network that users bring. It counts the writes on the way, and checks that a cluster in order causes none.
package mainpath_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
