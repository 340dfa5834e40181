// Package scale counts and measures what many machines in one cluster cost: requests to Azure and to Kubernetes, time,
// and memory. The test counts exactly and runs with all others; BenchmarkHundredMachines measures and is run by hand.
package scale_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
