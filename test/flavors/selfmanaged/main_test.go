package selfmanaged_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, &environment, "--feature-gates=EdgeZone=true"))
}
