// Package managed_test takes AKS clusters through their life: made, changed, moved, adopted, drifted, refused, killed half way, and
// deleted. It merges each snippet of docs/book/aks into the flavor's objects and checks the values that Azure then has.
package managed_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
