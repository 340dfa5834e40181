//go:build programs

package unmodified

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/programs/neighbor"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// findProgram returns the path of a program that make programs builds.
func findProgram(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%v: run `make programs` first", err)
	}
	return file
}

// findInstalled returns the path of a program of the machine.
func findInstalled(t *testing.T, name string) string {
	t.Helper()
	file, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%v: install %s first", err, name)
	}
	return file
}

// environment returns the variables of a process that uses the simulated Azure.
func environment(outside *virtual.Outside, more ...string) []string {
	return append(append([]string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH")}, outside.Environment...), more...)
}

// run runs a program to its end, and returns its output.
func run(dir string, environment []string, program string, arguments ...string) (string, error) {
	command := exec.Command(program, arguments...)
	command.Dir, command.Env = dir, environment
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(arguments, " "), err, out.String())
	}
	return out.String(), nil
}

// act runs a part of a program outside of the bubble, and returns its writes.
func act(c *neighbor.Cluster, outside *virtual.Outside, part func() error) []string {
	c.T.Helper()
	mark := c.Azure.MarkRequests()
	if err := c.RunOutside(outside, part); err != nil {
		c.T.Fatal(err)
	}
	return c.OtherWritesSince(mark)
}

var errUnexpected = errors.New("unexpected answer")
