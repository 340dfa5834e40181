package azuretest_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
)

// codeBlocks returns those of a Markdown text in a language.
func codeBlocks(text, language string) []string {
	var out []string
	for _, rest := range strings.Split(text, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(rest, "```")
		out = append(out, block)
	}
	return out
}

// TestReadmeGo checks that the README's Go code stands line by line in a test that runs. TestReadmeInEmptyModule runs the first block.
func TestReadmeGo(t *testing.T) {
	var tests strings.Builder
	for _, name := range []string{"example_test.go", "azuretest_test.go"} {
		tests.WriteString(trimIndentation(readFile(t, name)))
	}
	shown := codeBlocks(readFile(t, "../README.md"), "go")
	if len(shown) < 2 {
		t.Fatalf("the README shows %d blocks of Go, want at least 2", len(shown))
	}
	for _, block := range shown[1:] {
		if !strings.Contains(tests.String(), trimIndentation(block)) {
			t.Errorf("no test has these lines of the README one after another:\n%s", block)
		}
	}
}

// TestPageCompiles builds the Go code of the simulator's page, as a package of this module that is no file of it.
func TestPageCompiles(t *testing.T) {
	dir := t.TempDir()
	code, overlay := filepath.Join(dir, "example.go"), filepath.Join(dir, "overlay.json")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	blocks := codeBlocks(readFile(t, "../../docs/book/simulator.md"), "go")
	if len(blocks) != 1 {
		t.Fatalf("the page has %d blocks of Go, want 1", len(blocks))
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "ofpage", "example.go"): code}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{code: blocks[0], overlay: string(replace)} {
		writeFile(t, name, content)
	}
	runGo(t, here, os.Environ(), "build", "-overlay", overlay, "./ofpage")
}

// TestReadmeCommands runs the README's commands in their order, with this module as others download it, at free
// ports. The output is compared with the text of comments that begin with "prints".
func TestReadmeCommands(t *testing.T) {
	dir, environ := t.TempDir(), serveModule(t)
	text := strings.NewReplacer("127.0.0.1:8443", ports.Free(t), "127.0.0.1:8444", ports.Free(t)).Replace(readFile(t, "../README.md"))
	all := codeBlocks(text, "sh")
	if len(all) < 4 || !strings.HasPrefix(all[0], "go run ") {
		t.Fatalf("the README has %d blocks of commands, and the first one starts no simulator", len(all))
	}
	startCommand(t, dir, environ, all[0])
	script := "set -eu\n" + strings.Join(all[1:], "")
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for line := range strings.Lines(script) {
		if want, is := strings.CutPrefix(strings.TrimSpace(line), "# prints "); is {
			_, after, found := strings.Cut(rest, want+"\n")
			if !found {
				t.Errorf("the README has the output %q; the program prints\n%s", want, out)
			}
			rest = after
		}
	}
}

// startCommand runs a command until the test ends. It returns when the command reports that it is ready.
func startCommand(t *testing.T, dir string, environ []string, command string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "exec "+command)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run does not hand signals on
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.Contains(line, "ready") {
		t.Fatalf("got %q, %v", line, err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// trimIndentation returns a text without the indentation of its lines.
func trimIndentation(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimSpace(line) + "\n")
	}
	return out.String()
}
