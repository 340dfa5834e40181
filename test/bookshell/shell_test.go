package bookshell

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShell runs blocks with a played program, and looks at what the program is given and at the errors of blocks.
func TestShell(t *testing.T) {
	tests := map[string]struct {
		reason, block string
		calls         []string
		failure       string
	}{
		"quotes":         {reason: "the shell splits the words", block: "tool 'a b' \"$KNOWN\"\n", calls: []string{"tool|a b|value"}},
		"in a folder":    {reason: "pages name programs in bin", block: "bin/tool a\n", calls: []string{"tool|a"}},
		"substitution":   {reason: "output is an argument", block: "tool \"$(tool inner)\"\n", calls: []string{"tool|inner", "tool|answer inner"}},
		"pipe":           {reason: "- is the standard input", block: "tool a | tool -\n", calls: []string{"tool|a", "tool|-|<answer a"}},
		"of the reader":  {reason: "nothing sets the variable", block: "tool $UNKNOWN\n", failure: "UNKNOWN: unbound variable"},
		"no program":     {reason: "no rule knows it", block: "another a\n", failure: "another: command not found"},
		"an error":       {reason: "the error of a program is that of the block", block: "tool fails\ntool a\n", calls: []string{"tool|fails"}, failure: "tool fails: as requested"},
		"a typing error": {reason: "the shell cannot read it", block: "tool 'a\n", failure: "unexpected EOF"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var calls []string
			shell := &Shell{Folder: t.TempDir(), Variables: map[string]string{"KNOWN": "value"}, Programs: map[string]Program{
				"tool": func(call Call) (string, error) {
					words := append([]string{call.Name}, call.Arguments...)
					if call.Input != "" {
						words = append(words, "<"+call.Input)
					}
					calls = append(calls, strings.Join(words, "|"))
					if call.Arguments[0] == "fails" {
						return "", errors.New("as requested")
					}
					return "answer " + call.Arguments[0] + "\n", nil
				}}}
			err := shell.Run(t.Context(), Block{Text: test.block})
			if diff := cmp.Diff(test.calls, calls); diff != "" {
				t.Errorf("%s: calls (-want +got)\n%s", test.reason, diff)
			}
			if (err == nil) != (test.failure == "") || err != nil && !strings.Contains(err.Error(), test.failure) {
				t.Errorf("%s: %v, want %q", test.reason, err, test.failure)
			}
		})
	}
}

// TestVariablesOfBlocks hands variables of a block, exported or not, on to the next one.
func TestVariablesOfBlocks(t *testing.T) {
	shell := &Shell{Folder: t.TempDir(), Others: func(call Call) (string, error) {
		if call.Name == "tool" && cmp.Equal(call.Arguments, []string{"1", "2"}) {
			return "", nil
		}
		return "", errors.New("called with other variables")
	}}
	for _, text := range []string{"A=1\nexport B=2\n", "tool $A $B\n"} {
		if err := shell.Run(t.Context(), Block{Text: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestForeign compares commands with a table.
func TestForeign(t *testing.T) {
	program := NewForeign(map[string]string{"group create": "name location", "group": ""}, "printed")
	for words, want := range map[string]string{
		"group create --name a --location b": "", "group create -name=a": "", "group create --nam a": "no flag --nam", "vm create": "no such command",
		"group create a -- --nam": "",
	} {
		out, err := program(Call{Arguments: strings.Fields(words)})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && out != "printed" {
			t.Errorf("%s: %q, %v, want %q", words, out, err, want)
		}
	}
}

// TestParseBlocks reads blocks with and without indentation.
func TestParseBlocks(t *testing.T) {
	got, err := parseBlocks("p.md", "a\n```sh\none\n  two\n```\n- b\n  ```yaml\n  three: 3\n    four\n  ```\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{{Page: "p.md", Line: 2, Language: "sh", Text: "one\n  two\n"}, {Page: "p.md", Line: 7, Language: "yaml", Text: "three: 3\n  four\n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := parseBlocks("p.md", "```sh\n"); err == nil {
		t.Error("a block without an end is read")
	}
}
