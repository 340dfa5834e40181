// Package program builds the manager and the kubectl plugin as they are released. The same source and the same Go give the same bytes, wherever the
// checkout and the cache are; it writes one file, and blocks as long as the compiler takes.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Architectures are those of the image, all on Linux.
var Architectures = []string{"amd64", "arm64"}

// flags are COMPILE_FLAGS of the Makefile, so that packages in Go's cache are not compiled again for a release.
var flags = []string{"-trimpath", "-gcflags=all=-dwarf=false"}

// Platform is the operating system and architecture of a program.
type Platform struct{ OS, Architecture string }

// Build builds a package of the checkout at root into the file out. The variable main.version gives the package its
// version.
func Build(ctx context.Context, root, pkg, version string, platform Platform, out string) error {
	// Without C the program links to no library, so the other contents of the image do not matter. The path of the
	// checkout, its commit and symbols are left out: -trimpath, -buildvcs, -s, -w.
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-buildvcs=false"}, flags,
		[]string{"-ldflags=-s -w -X main.version=" + version, "-o", out, pkg})...)
	command.Dir = root
	command.Env = platform.Environment()
	var messages bytes.Buffer
	command.Stderr = &messages
	if err := command.Run(); err != nil {
		return fmt.Errorf("go build %s for %s/%s: %w: %s", pkg, platform.OS, platform.Architecture, err, strings.TrimSpace(messages.String()))
	}
	return nil
}

// Environment returns the environment of a go command for the platform. Settings of the caller that change what is compiled do not count.
func (p Platform) Environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=",
		"GOWORK=off")
}
