// Package applied_test applies manifests again when their objects are Ready: templates of AKS clusters, machine pools and classes, and
// shapes of projects that build on the established provider. Nothing changes in Kubernetes, and nothing is written to Azure. The
// packages selfmanaged, apiserverilb and book do the same with the other templates and with the pages of the book.
package applied_test

import (
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }
