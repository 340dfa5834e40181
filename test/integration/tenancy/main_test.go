// Package tenancy_test plays tenants of one management cluster who mean harm: each owns a namespace and may make identities, clusters and
// Secrets there, and tries to get at objects and resources of another tenant or of the operator. The tests check legitimate uses, too.
package tenancy_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
