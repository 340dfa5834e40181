// Package rights_test compares the role definitions of templates/azure-roles with the calls of the stories of their
// feature sets.
//
// With its role, and nothing else, the provider takes the feature set's clusters from nothing to Ready, through a
// change, and back to nothing, and uses every action of the role; and while an action is missing, a condition names it.
// With -update the files are written from the calls. The stories make use of every right in Kubernetes that the release
// grants to the manager, except for those that are named here with their user.
package rights_test

import (
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) {
	code := harness.RunTests(m, &environment)
	if code == 0 {
		if err := checkRights(environment); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
