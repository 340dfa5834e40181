// Package rates_test has Azure refuse things for as long as it lasts, and counts for one minute what that costs: passes over
// the object, and requests to Azure.
package rates_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
