package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

// TestManagerHasNoSimulator holds that the manager's binary has neither the simulator nor the packages of plans.
func TestManagerHasNoSimulator(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/manager")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if below, is := strings.CutPrefix(path, module+"/"); is &&
			(strings.HasPrefix(below, "sim/") || strings.HasPrefix(below, "internal/preview") || strings.HasPrefix(below, "internal/cli")) {
			t.Errorf("cmd/manager imports %s", path)
		}
	}
}
