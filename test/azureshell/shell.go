// Package azureshell runs commands of pages for the Azure CLI against a simulated Azure, in a real shell.
//
// The CLI is played: each command sends the requests that az 2.45 sends, which `go run ./azurecli -page` in sim/conformance prints. Commands and
// arguments that it does not know fail. Other programs of the commands are those of the machine.
package azureshell

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// Shell is a folder in which commands run, and the account that is signed in.
type Shell struct {
	Azure *server.Server
	// ClientID is the application that the commands act as, and Secret its secret.
	ClientID, Secret string
	// Folder is the working directory.
	Folder string
}

// client is the program az of the shell: it sends its arguments to the test, and prints the answer.
const client = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/$AZ_PORT || exit 1
printf '%d\n' $# >&3
printf '%s\0' "$@" >&3
read -r code <&3
if [ "$code" = 0 ]; then cat <&3; else cat <&3 >&2; fi
exit "$code"
`

// Run runs lines in one shell that ends with the first failure, and returns the variables that they export.
func (s *Shell) Run(t testing.TB, lines []string) map[string]string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go s.serve(listener)
	programs := t.TempDir()
	if err := os.WriteFile(filepath.Join(programs, "az"), []byte(client), 0o700); err != nil {
		t.Fatal(err)
	}
	const mark = "==== variables ===="
	script := "set -eo pipefail\n" + strings.Join(lines, "\n") + "\necho '" + mark + "'\nenv -0\n"
	command := exec.CommandContext(t.Context(), "bash", "-c", script)
	command.Dir = s.Folder
	command.Env = []string{"HOME=" + s.Folder, "PATH=" + programs + ":" + os.Getenv("PATH"),
		"AZ_PORT=" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)}
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	if err := command.Run(); err != nil {
		t.Fatalf("commands of the page: %v\n%s\n%s", err, out.String(), messages.String())
	}
	_, variables, _ := strings.Cut(out.String(), mark+"\n")
	exported := map[string]string{}
	for entry := range strings.SplitSeq(variables, "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			exported[name] = value
		}
	}
	return exported
}

func (s *Shell) serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		reader := bufio.NewReader(connection)
		var count int
		line, err := reader.ReadString('\n')
		if err == nil {
			count, err = strconv.Atoi(strings.TrimSpace(line))
		}
		var arguments []string
		for range count {
			var argument string
			if argument, err = reader.ReadString(0); err != nil {
				break
			}
			arguments = append(arguments, strings.TrimSuffix(argument, "\x00"))
		}
		var printed string
		if err == nil {
			printed, err = s.play(arguments)
		}
		if err != nil {
			fmt.Fprintf(connection, "1\nERROR: az %s: %v\n", strings.Join(arguments, " "), err)
		} else {
			fmt.Fprintf(connection, "0\n%s", printed)
		}
		_ = connection.Close()
	}
}

// PageLines returns the lines of shell blocks that call az, set variables or change files, without the interactive sign-in, in the sections of a
// page for which include returns true. It gets the heading of each section.
func PageLines(page string, include func(heading string) bool) (out []string) {
	inside, included := false, include("")
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sh"
		case !inside && strings.HasPrefix(line, "#"):
			included = include(strings.TrimLeft(line, "# "))
		case inside && included && line != "az login" && startsWithAny(line, "az ", "export ", "sed "):
			out = append(out, line)
		}
	}
	return out
}

func startsWithAny(text string, beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(beginning string) bool { return strings.HasPrefix(text, beginning) })
}
