// Package takeover_test has this provider take over clusters that the established provider made, for every flavor: what it
// leaves in etcd is stored past our definitions, and what it leaves in Azure is what its facts say, not what our plans do.
// Nothing is written to Azure, everything becomes Ready, and then the clusters are scaled, rolled and deleted.
package takeover_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) {
	os.Exit(harness.Main(m, &environment, "--feature-gates=EdgeZone=true"))
}
