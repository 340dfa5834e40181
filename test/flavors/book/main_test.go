package book_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// gates are those that pages of the book need.
const gates = "--feature-gates=EdgeZone=true"

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &environment, gates)) }
