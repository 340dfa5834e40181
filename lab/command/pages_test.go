package command

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
)

// withLab matches blocks with commands of the lab, among them the targets of the Makefile that give them flags.
var withLab = regexp.MustCompile(`\blab\b|make bench`)

// TestCommandsOfPages parses the arguments of the lab's commands on all pages, as the lab does, and looks for the measurements that they name.
// TestCommands of test/flavors/book runs the other commands of these blocks.
func TestCommandsOfPages(t *testing.T) {
	root := filepath.Join("..", "..")
	blocks, err := bookshell.ReadBlocks(root)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	lab := func(call bookshell.Call) (string, error) {
		calls.Add(1)
		return "", checkLab(call.Arguments...)
	}
	nothing := func(bookshell.Call) (string, error) { return "", nil }
	shell := &bookshell.Shell{Folder: t.TempDir(), Others: nothing, Variables: map[string]string{"HTTPS_PROXY": "http://127.0.0.1:8444"}}
	shell.Programs = map[string]bookshell.Program{"lab": lab, "azuresim": nothing, "make": bookshell.NewMake(root, func(name, value string) error {
		switch name {
		case "LAB_FLAGS":
			return checkLab(append([]string{"up"}, strings.Fields(value)...)...)
		case "BENCH", "BENCH_FLAGS":
			return checkLab(append([]string{"bench"}, strings.Fields(value)...)...)
		}
		return nil
	})}
	for _, block := range blocks {
		if block.Language != "sh" && block.Language != bookshell.Inline || strings.Contains(block.Text, "NAME") || !withLab.MatchString(block.Text) {
			continue
		}
		if err := shell.Run(t.Context(), block); err != nil {
			t.Errorf("%s: %v", block.Place(), err)
		}
	}
	if calls.Load() == 0 {
		t.Error("no page has a command of the lab")
	}
}

// checkLab parses a command of the lab.
func checkLab(arguments ...string) error {
	command, err := bookshell.ParseCommand(New("dev"), arguments)
	if err != nil || command.Name() != "bench" {
		return err
	}
	for _, name := range command.Flags().Args() {
		if _, err := bench.FindScenario(name); err != nil {
			return fmt.Errorf("lab bench: %w", err)
		}
	}
	return nil
}
