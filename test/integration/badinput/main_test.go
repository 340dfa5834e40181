// Package badinput_test applies manifests that cannot work, and checks the answer: the API server or a condition names the field, the
// problem and the correction, and a corrected cluster or machine becomes ready.
package badinput_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
