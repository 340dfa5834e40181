package folder

import (
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/plugin"
	"sigs.k8s.io/cluster-api-provider-azure/hack/release/program"
)

// TestSourcesOfAllPlatforms loads the packages of the released programs for each of their platforms. It finds a package that has no source for a
// platform, and does not compile, which takes minutes for each.
func TestSourcesOfAllPlatforms(t *testing.T) {
	root := checkout(t)
	load := func(name string, platform program.Platform) {
		t.Run(strings.Join([]string{name, platform.OS, platform.Architecture}, " "), func(t *testing.T) {
			t.Parallel()
			list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/"+name)
			list.Dir, list.Env = root, platform.Environment()
			out, err := list.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "\nk8s.io/client-go/rest\n") {
				t.Errorf("the program does not use client-go, only\n%s", out)
			}
		})
	}
	for _, architecture := range program.Architectures {
		load("manager", program.Platform{OS: "linux", Architecture: architecture})
	}
	for _, platform := range plugin.Platforms {
		load(plugin.Name, platform)
	}
}
