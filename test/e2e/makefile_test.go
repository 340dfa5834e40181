package main

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestMakefile prints the commands of make e2e without running them. The components of a run on a subscription name the image of make image-push.
func TestMakefile(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		out    string
		fails  string
	}{
		"lab": {reason: "its machines are this one", out: "-registry 'registry.example' -architectures '" + runtime.GOARCH + "'"},
		"azure": {reason: "the digest is that of the pushed image", args: []string{"E2E_CLOUD=azure", "REGISTRY=registry.contoso.com/team"},
			out: "-registry 'registry.contoso.com/team' -architectures ''"},
		"no registry": {reason: "no user can push there", args: []string{"E2E_CLOUD=azure"}, fails: "REGISTRY is registry.example, which has no image"},
		"reserved registry": {reason: "no user can push there", args: []string{"E2E_CLOUD=azure", "REGISTRY=registry.example/team"},
			fails: "REGISTRY is registry.example/team, which has no image"},
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), "make", append([]string{"--dry-run", "--directory", "../..", "e2e"}, tc.args...)...)
			// The variables and flags of a make that runs the tests do not count.
			command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
				name, _, _ := strings.Cut(variable, "=")
				return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "REGISTRY", "ARCHITECTURES", "VERSION"}, name) ||
					strings.HasPrefix(name, "E2E_")
			})
			raw, err := command.CombinedOutput()
			out := string(raw)
			if (err != nil) != (tc.fails != "") || !strings.Contains(out, tc.out) || !strings.Contains(out, tc.fails) {
				t.Errorf("%s: error %v, want %q and %q:\n%s", tc.reason, err, tc.out, tc.fails, out)
			}
			if tc.fails != "" && strings.Contains(out, "go build") {
				t.Errorf("%s: a program is built before:\n%s", tc.reason, out)
			}
		})
	}
}
