package architecture

import (
	"os/exec"
	"strings"
	"testing"
)

// TestManagerHasNoSimulator checks that the manager's binary has neither the simulator, except for Azure's definitions, which are data, nor the
// packages of previews and of the command line.
func TestManagerHasNoSimulator(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/manager")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if below, is := strings.CutPrefix(path, module+"/"); is && below != "sim/definitions" &&
			(strings.HasPrefix(below, "sim/") || strings.HasPrefix(below, "internal/preview") || strings.HasPrefix(below, "internal/cli")) {
			t.Errorf("cmd/manager imports %s", path)
		}
	}
}
