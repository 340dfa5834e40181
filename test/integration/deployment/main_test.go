// Package deployment_test installs the manifests of config/default and runs managers with exactly the arguments, the environment and
// the rights of the Deployment and its ServiceAccount.
package deployment_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
