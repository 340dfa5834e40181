package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun replaces the CLI by a program that sends requests as curl would, so that the way to the simulator is Azure's.
func TestRun(t *testing.T) {
	program := filepath.Join(t.TempDir(), "az-of-user")
	script := `#!/usr/bin/env bash
case "$1" in
login) echo "$@" | grep -q -- "--password simulated-secret" || { echo "no password" >&2; exit 1; } ;;
say) echo "$2" ;;
fail) echo "ERROR: $2" >&2; exit 1 ;;
look) test -s "$SSL_CERT_FILE" && test "$HTTPS_PROXY" = "$https_proxy" && basename "$(dirname "$HOME/.")" | cut -c1-9 ;;
python) python=$PYTHONPATH/sitecustomize.py; test -s "$python" && echo corrected ;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, list, err string
		debian            bool
		output            []string
	}{
		"as expected": {
			reason: "expected output, refusals and commands without output pass",
			list:   "# For the reader\n\naz say hello # hello\naz fail 'no such thing' # error: such\naz say anything\naz look # azurecli-\n",
			output: []string{"4 commands in", " 0 had an unexpected result"},
		},
		"corrected": {
			reason: "Debian's CLI gets the versions of its SDK",
			list:   "az python # corrected\n", debian: true,
			output: []string{"1 commands in", " 0 had an unexpected result"},
		},
		"otherwise": {
			reason: "each failure is reported with its line, and the other lines are still tried",
			list:   "az say a # b\naz say a # error: b\naz fail a # error: b\naz fail quietly\naz say last # last\n",
			err:    "disagree",
			output: []string{
				`line 1: az say a`, `prints "a", want "b"`, `line 2: az say a`, `is to be refused with "b" and prints "a"`, `line 3: az fail a`,
				`ERROR: a`,
				"line 4: az fail quietly\n\texit status 1\n\tERROR: quietly", "5 commands in", " 4 had an unexpected result",
			},
		},
		"a failing part": {
			reason: "a failure inside a pipe is found",
			list:   "az fail a | cat\n", err: "disagree",
			output: []string{"ERROR: a"},
		},
		"not a list": {
			reason: "a line that is no command of the CLI is a mistake in the list",
			list:   "az say a\nrm -r .\n", err: "line 2: want az",
		},
		"refusal of nothing": {
			reason: "every complaint has the empty text",
			list:   "az say a # error: \n", err: "line 1: want az",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := runCommands(t.Context(), &out, program, tc.debian, tc.list)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			for _, want := range tc.output {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s: the output lacks %q:\n%s", tc.reason, want, out.String())
				}
			}
		})
	}
	if err := runCommands(t.Context(), &bytes.Buffer{}, filepath.Join(t.TempDir(), "none"), false, "az say a\n"); err == nil ||
		!strings.Contains(err.Error(), "the Azure CLI is not installed") {
		t.Errorf("without a CLI: %v", err)
	}
}

// TestCommands compares the list with the book.
func TestCommands(t *testing.T) {
	steps, err := parseSteps(commands)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, s := range steps {
		if s.prints != "" || s.refused != "" {
			checked++
		}
	}
	if len(steps) < 200 || checked < len(steps)*3/4 {
		t.Errorf("%d commands, of %d of which something is expected: want 200, and three in four", len(steps), checked)
	}
}
