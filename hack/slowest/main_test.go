package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cpuLine has the CPU time of a command.
var cpuLine = regexp.MustCompile(`(?m)^--- +\d+\.\d s of CPU  .*\n`)

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		commands []string
		want     string
		fails    string
	}{
		"slowest first": {
			reason: "the slowest packages are listed, whether they passed or not",
			commands: []string{`printf 'ok  \texample/a\t1.250s\nok  \texample/b\t(cached)\n'`,
				`printf -- '--- FAIL: TestC (0.00s)\n    c_test.go:1: no\nFAIL\nFAIL\texample/c\t12.000s\n?   \texample/d\t[no test files]\nFAIL\n'; exit 1`},
			want: "ok  \texample/a\t1.250s\nok  \texample/b\t(cached)\n" +
				"--- FAIL: TestC (0.00s)\n    c_test.go:1: no\nFAIL\nFAIL\texample/c\t12.000s\n?   \texample/d\t[no test files]\nFAIL\n" +
				"--- TIME for all tests; the 2 slowest of 2 packages that ran:\n---   12.0 s  example/c\n---    1.2 s  example/a\n",
			fails: "exit status 1",
		},
		"goes on": {
			reason:   "a failure of one module does not hide the results of the others",
			commands: []string{"echo first; exit 3", `printf 'last'`},
			want:     "first\nlast\n--- TIME for all tests; the 0 slowest of 0 packages that ran:\n",
			fails:    "exit 3: exit status 3",
		},
		"messages": {
			reason:   "a package that does not compile is reported on standard error",
			commands: []string{`echo '# example/a' >&2; echo 'a.go:1: no' >&2; printf 'FAIL\texample/a [build failed]\n'; false`},
			want:     "# example/a\na.go:1: no\nFAIL\texample/a [build failed]\n--- TIME for all tests; the 0 slowest of 0 packages that ran:\n",
			fails:    "exit status 1",
		},
		"killed": {
			reason:   "a command that ends by a signal has failed",
			commands: []string{`printf 'ok  \texample/a\t0.500s\n'; kill -9 $$`},
			want:     "ok  \texample/a\t0.500s\n--- TIME for all tests; the 1 slowest of 1 packages that ran:\n---    0.5 s  example/a\n",
			fails:    "signal: killed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := run(&out, 1, tc.commands)
			if (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Errorf("%s: want %q, got %v", tc.reason, tc.fails, err)
			}
			got := cpuLine.ReplaceAllString(out.String(), "")
			if diff := cmp.Diff(tc.want, regexp.MustCompile(`(?m)^--- \d+s`).ReplaceAllString(got, "--- TIME")); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			for _, command := range tc.commands {
				if !strings.Contains(out.String(), " s of CPU  "+command+"\n") {
					t.Errorf("the CPU time of %q is missing in\n%s", command, out.String())
				}
			}
		})
	}
}

func TestOnlyTheSlowestAreListed(t *testing.T) {
	var out strings.Builder
	if err := run(&out, 1, []string{`for i in $(seq 10 30); do printf 'ok  \texample/p%s\t%s.0s\n' $i $i; done`}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 21+2+listed {
		t.Fatalf("want %d packages in the list, got\n%s", listed, out.String())
	}
	for i, line := range lines[23:] {
		if want := fmt.Sprintf("---   %d.0 s  example/p%d", 30-i, 30-i); line != want {
			t.Errorf("want %q, got %q", want, line)
		}
	}
}

// TestCPU compares two commands, because a machine's speed is not known.
func TestCPU(t *testing.T) {
	var out strings.Builder
	busy := `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; printf 'ok  \texample/busy\t1.0s\n'`
	if err := run(&out, 1, []string{"echo idle", busy}); err != nil {
		t.Fatal(err)
	}
	found := cpuLine.FindAllString(out.String(), -1)
	if len(found) != 2 || !strings.Contains(found[0], busy) || strings.Contains(found[0], "   0.0 s") {
		t.Errorf("the command that computes comes first, with its CPU time: got %q", found)
	}
}

// TestSideBySide lets two commands wait for each other in the middle of the output of a package; it expects that both end and that the
// output of each package is in one block.
func TestSideBySide(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	var out strings.Builder
	err := run(&out, 2, []string{
		fmt.Sprintf(`echo begin a; echo >%s; read <%s; echo end a; printf 'FAIL\texample/a\t1.0s\n'; exit 1`, a, b),
		fmt.Sprintf(`echo begin b; read <%s; echo end b; printf 'ok  \texample/b\t1.0s\n'; echo >%s`, a, b),
	})
	if err == nil {
		t.Error("the first command failed")
	}
	for _, block := range []string{"begin a\nend a\nFAIL\texample/a\t1.0s\n", "begin b\nend b\nok  \texample/b\t1.0s\n"} {
		if !strings.Contains(out.String(), block) {
			t.Errorf("the lines of a package stay together: %q is not in\n%s", block, out.String())
		}
	}
}

// TestMain is the command itself where TestExitStatus runs it.
func TestMain(m *testing.M) {
	if command := os.Getenv("SLOWEST_COMMAND"); command != "" {
		os.Args = []string{"slowest", command}
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestExitStatus is what make sees.
func TestExitStatus(t *testing.T) {
	for status, want := range map[string]int{"0": 0, "1": 1, "7": 1} {
		slowest := exec.Command(os.Args[0])
		slowest.Env = append(os.Environ(), "SLOWEST_COMMAND=exit "+status)
		if err := slowest.Run(); slowest.ProcessState == nil || slowest.ProcessState.ExitCode() != want {
			t.Errorf("a command that ends with %s: want the status %d, got %v", status, want, err)
		}
	}
}
