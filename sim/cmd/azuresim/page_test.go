package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
)

// asProgram is set for processes of the test's own program that are to be azuresim.
const asProgram = "TEST_RUNS_AZURESIM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// startProgram is a function of the shell that runs a command, which ends the former one, and waits until it is ready.
const startProgram = `set -euo pipefail
pid=
finish() { if [ -n "$pid" ]; then kill $pid; wait $pid || true; fi; }
trap finish EXIT
start() {
	finish
	: >output
	"$@" >output &
	pid=$!
	until grep -q ready output; do kill -0 $pid; sleep 0.05; done
}
`

// TestPage runs the commands of the simulator's page one after the other in one shell, at free ports. It leaves out those that build, and
// those of sim/conformance, which are tests and programs of that folder.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/book/simulator.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(dir, "bin", "azuresim")); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("127.0.0.1:8443", ports.Free(t), "127.0.0.1:8444", ports.Free(t), "\nbin/azuresim ", "\nstart bin/azuresim ",
		"\nmake build\n", "\n", "\ntail -f ", "\ntail ").Replace(string(page))
	script := startProgram
	for _, rest := range strings.Split(text, "```sh")[1:] {
		if block, _, _ := strings.Cut(rest, "```"); !strings.Contains(block, "cd sim/conformance") {
			script += block
		}
	}
	// The rules of the page are those of a file, and of the control API.
	_, rules, _ := strings.Cut(text, "```json\n")
	rules, _, _ = strings.Cut(rules, "```")
	if err := os.WriteFile(filepath.Join(dir, "rules.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	script += "start bin/azuresim --listen " + ports.Free(t) + " --fault-file rules.json\n"
	command := exec.CommandContext(t.Context(), "bash", "-c", script)
	command.Dir, command.Env = dir, append(os.Environ(), asProgram+"=1")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`"subscriptionId":"00000000-0000-0000-0000-000000000001"`, `"resourceManager":"https://management.azure.com`,
		`"kind":"throttle"`, "GET 200 /subscriptions?"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the commands print no %s:\n%s", want, out)
		}
	}
}
