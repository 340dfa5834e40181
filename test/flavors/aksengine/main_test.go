// Package aksengine_test applies the manifests that convert aksengine writes as a user does: clusters and machines become Ready, another
// look writes nothing, and deleting leaves nothing behind.
package aksengine_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
