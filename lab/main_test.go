package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// asProgram turns the program of the tests into the lab.
const asProgram = "LAB_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// labProgram returns a command of the lab as a process, and the directory of a lab that does not run.
func labProgram(t *testing.T, args ...string) (command *exec.Cmd, dir string) {
	t.Helper()
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "lab")
	if err := (&settings.Settings{Dir: dir, Root: root, BasePort: 21000, ClientSecret: "secret of the lab"}).Save(); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command = exec.CommandContext(t.Context(), program, append([]string{"--dir", dir}, args...)...)
	command.Env = append(os.Environ(), asProgram+"=1")
	command.Stderr = t.Output()
	return command, dir
}

func expectExitCode(t *testing.T, err error, want int) {
	t.Helper()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != want {
		t.Errorf("the command ended with %v, want exit code %d", err, want)
	}
}

// TestExec runs programs with the environment of a lab. The exit code is that of the program.
func TestExec(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy-of-the-shell")
	command, dir := labProgram(t, "exec", "--", "sh", "-c", `echo "$HTTPS_PROXY|$KUBECONFIG|$AZURE_CLIENT_SECRET|$0|$1"; exit 3`, "word", "two words")
	out, err := command.Output()
	expectExitCode(t, err, 3)
	got := strings.Split(strings.TrimSpace(string(out)), "|")
	if len(got) != 5 || !strings.HasPrefix(got[0], "http://127.0.0.1:") || !strings.HasPrefix(got[1], dir) || got[2] != "secret of the lab" ||
		got[3] != "word" || got[4] != "two words" {
		t.Errorf("the program printed %q", out)
	}
	command, _ = labProgram(t, "exec", "--", "no-such-program")
	_, err = command.Output()
	expectExitCode(t, err, 1)
}

// TestExecInterrupted interrupts a program that cleans up before it ends. A shell of the lab does not even end.
func TestExecInterrupted(t *testing.T) {
	command, _ := labProgram(t, "exec", "--", "sh", "-c", `trap 'echo "cleaned up"; exit 7' INT; echo ready; while :; do sleep 0.1; done`)
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewScanner(pipe)
	var lines []string
	for out.Scan() {
		if lines = append(lines, out.Text()); len(lines) == 1 {
			if err := command.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	expectExitCode(t, command.Wait(), 7)
	if got := fmt.Sprint(lines); got != "[ready cleaned up]" {
		t.Errorf("the program printed %s", got)
	}
}
