package command

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
)

// TestBenchNamesItsScenarios has a list of all scenarios, and an error that names them.
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
