// Package drift_test changes every kind of resource outside, in Azure, and looks at what the provider makes of it: it
// repairs the resource, reports the change, or keeps it. The table of the book is written from the same rows.
package drift_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
