package command

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
)

// TestBenchNamesItsScenarios checks that the list of scenarios and the error for an unknown one name all of them.
func TestBenchNamesItsScenarios(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	out, err := runCommand(t, dir, "bench")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range bench.Scenarios {
		if !strings.Contains(out, "\n"+s.Name+" ") {
			t.Errorf("the list lacks %s:\n%s", s.Name, out)
		}
	}
	_, err = runCommand(t, dir, "bench", "default", "nothing")
	expectError(t, err, "there is no scenario nothing", "default, aks, ")
	_, err = runCommand(t, dir, "bench", "report", filepath.Join(dir, "none.json"))
	expectError(t, err, "none.json")
}
