// Package apiserverilb_test brings the templates and the page of the book up that need the feature gate APIServerILB, and
// takes clusters of these templates over. The gate gives every public cluster an internal load balancer, so they have a
// manager of their own.
package apiserverilb_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// gates turn on what gives every public cluster an internal load balancer, so the other flavors are not tested with it.
const gates = "--feature-gates=APIServerILB=true"

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment, gates)) }
