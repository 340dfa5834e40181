// Package tenancy_test plays tenants of one management cluster who mean harm: each owns a namespace and may make identities,
// clusters and Secrets there, and wants what is another tenant's or the operator's. Legitimate uses stand beside the tries.
package tenancy_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
