// Package badinput_test gives manifests that cannot work, and looks at the answer: the API server or a condition names the
// field, says what is wrong and what to do, and a cluster or machine that was mended comes up.
package badinput_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
