// Package changes_test changes what users change on clusters that stand, and looks at what becomes of it in Azure.
package changes_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &environment)) }
