// Package book_test applies every manifest of docs/book/selfmanaged like a reader: clusters and machines become Ready,
// Azure has the values of the manifest, another reconciliation writes nothing, and deleting leaves nothing behind.
// It also runs the commands of all pages.
package book_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// gates are those that pages of the book need.
const gates = "--feature-gates=EdgeZone=true"

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment, gates)) }
