package book_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	surroundings "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// gettingStarted is the page that sets the variables of the others.
const gettingStarted = "docs/book/getting-started.md"

var exportLine = regexp.MustCompile(`(?m)^export ([A-Z_]+)=(.*)$`)

// notRun are the blocks that are not run, by page and first line, with the reason.
var notRun = map[string]string{}

// readersVariables are variables that a page asks its readers to set in other words than by a command, beside those that Getting started
// exports, by page.
var readersVariables = map[string]map[string]string{
	// The configuration of clusterctl that a lab has.
	"docs/book/lab.md":           {"KUBERNETES_VERSION": "v1.34.1"},
	"docs/book/reference/lab.md": {"KUBERNETES_VERSION": "v1.34.1"},
}

// foreignOutput is what foreign programs print, by name: IDs for variables, and a manifest to apply.
var foreignOutput = map[string]string{
	"az":   "33333333-aaaa-4bbb-8ccc-444444444444\n",
	"curl": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: downloaded\n",
}

// inlineNotParsed are commands in the texts of pages that are not parsed, by page and command, with the reason.
var inlineNotParsed = map[string]string{
	"CONTRIBUTING.md go test ./... -update":                                       "the row names the folder in other words",
	"docs/conformance.md go test ./... -update":                                   "the sentence names the folder in other words",
	"docs/book/simulator-fidelity.md go test ./... -update":                       "the sentence names the folder in other words",
	"docs/design/performance.md go build -trimpath -ldflags '-X main.version=v0'": "a measurement of the linker",
}

// machinePrograms run as they are. They read and write files of the reader's folder.
var machinePrograms = []string{"base64", "date", "sed", "touch"}

// TestCommands runs the shell blocks of all pages in the order of each page, in a folder with the files of a release. The table of newPrograms
// has what happens to each program: kubectl sends its requests to an API server as a dry run, clusterctl generates from the templates of this
// repository, and the arguments of programs that cannot run are parsed. A block that cannot be run has its line in notRun.
func TestCommands(t *testing.T) {
	root := flavors.RepositoryRoot(t)
	blocks, err := bookshell.ReadBlocks(root)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]bookshell.Block{}
	unused := map[string]bool{}
	for key := range notRun {
		unused[key] = true
	}
	var inline []bookshell.Block
	for _, block := range blocks {
		if block.Language == bookshell.Inline && !strings.Contains(block.Page, "/reference/") {
			inline = append(inline, block)
		}
		if block.Language != "sh" {
			continue
		}
		line, _, _ := strings.Cut(block.Text, "\n")
		key := block.Page + " " + line
		if notRun[key] == "" {
			pages[block.Page] = append(pages[block.Page], block)
		}
		delete(unused, key)
	}
	for key := range unused {
		t.Errorf("notRun has %q, and no page has such a block", key)
	}
	reader := newReader(t)
	exported := exportedVariables(t)
	t.Run("inline", func(t *testing.T) {
		t.Parallel()
		reader.parseInline(t, inline)
	})
	for page, blocks := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			shell := &bookshell.Shell{Folder: t.TempDir(), Machine: machinePrograms, Variables: map[string]string{}}
			reader := reader.onPage(t)
			shell.Programs = reader.newPrograms(shell)
			reader.copyFiles(t, shell.Folder)
			if page != gettingStarted {
				maps.Copy(shell.Variables, exported)
			}
			maps.Copy(shell.Variables, readersVariables[page])
			for _, block := range blocks {
				if err := shell.Run(t.Context(), block); err != nil {
					t.Errorf("%s: %v", block.Place(), err)
				}
			}
		})
	}
}

// parseInline parses the commands in the texts of pages. They are parts of commands, so nothing is run.
func (r *reader) parseInline(t *testing.T, blocks []bookshell.Block) {
	shell := &bookshell.Shell{Folder: t.TempDir(), Variables: map[string]string{}}
	shell.Programs = r.newPrograms(shell)
	shell.Programs["kubectl"] = func(call bookshell.Call) (string, error) {
		if call.Arguments[0] == "capz" {
			_, err := bookshell.ParseCommand(cli.NewCommand(&surroundings.Environment{Version: "v2.0.0"}), call.Arguments[1:])
			return "", err
		}
		return "", r.parseByHelp(call, r.kubectlPath, call.Arguments)
	}
	shell.Programs["clusterctl"] = func(call bookshell.Call) (string, error) {
		return "", r.parseByHelp(call, filepath.Join(r.root, "bin", "clusterctl"), call.Arguments)
	}
	shell.Programs["lab"] = func(bookshell.Call) (string, error) { return "", nil }
	r.copyFiles(t, shell.Folder)
	unused := maps.Clone(inlineNotParsed)
	for _, block := range blocks {
		key := block.Page + " " + strings.TrimSpace(block.Text)
		if delete(unused, key); inlineNotParsed[key] != "" {
			continue
		}
		if err := shell.Run(t.Context(), block); err != nil && !strings.Contains(err.Error(), "flag needs an argument") {
			t.Errorf("%s: %v", block.Place(), err)
		}
	}
	for key := range unused {
		t.Errorf("inlineNotParsed has %q, and no page has such a command", key)
	}
}

// exportedVariables returns the variables that readers of Getting started have.
func exportedVariables(t *testing.T) map[string]string {
	t.Helper()
	exported, known := map[string]string{}, flavors.TemplateVariables(nil)
	for _, match := range exportLine.FindAllStringSubmatch(string(readFile(t, filepath.Join(flavors.RepositoryRoot(t), gettingStarted))), -1) {
		switch value := known[match[1]]; {
		case value != "":
			exported[match[1]] = value
		case strings.Contains(match[2], "$"):
			exported[match[1]] = "value-of-the-page"
		default:
			exported[match[1]] = match[2]
		}
	}
	return exported
}

// newPrograms returns the programs that pages call.
func (r *reader) newPrograms(shell *bookshell.Shell) map[string]bookshell.Program {
	programs := map[string]bookshell.Program{
		"kubectl":    r.kubectl,
		"clusterctl": r.clusterctl,
		"go":         r.checkGo,
		// TestCommandsOfPages of lab/command parses the arguments of the lab.
		"lab":      r.playLab(shell),
		"azuresim": r.checkAzuresim,
		"make":     bookshell.NewMake(r.root, func(string, string) error { return nil }),
		"sudo": func(call bookshell.Call) (string, error) {
			call.Name, call.Arguments = call.Arguments[0], call.Arguments[1:]
			return shell.Play(call)
		},
	}
	for name, table := range foreign {
		programs[name] = bookshell.NewForeign(table, foreignOutput[name])
	}
	return programs
}

// playCapz parses the arguments of kubectl capz, and looks for the files that it would read. Pages redirect the output of verbs that write
// manifests to a file and apply it.
func (r *reader) playCapz(call bookshell.Call, arguments []string) (string, error) {
	if _, err := bookshell.ParseCommand(cli.NewCommand(&surroundings.Environment{Version: "v2.0.0"}), arguments); err != nil {
		return "", err
	}
	for i, argument := range arguments {
		if i > 0 && arguments[i-1] == "-f" || strings.HasSuffix(argument, ".json") {
			if _, err := os.Stat(filepath.Join(call.Folder, argument)); err != nil {
				return "", fmt.Errorf("neither the page nor a release has the file: %w", err)
			}
		}
	}
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: written-by-kubectl-capz\n", nil
}

// playLab answers the verbs whose output pages use, and runs the command of lab exec.
func (r *reader) playLab(shell *bookshell.Shell) bookshell.Program {
	return func(call bookshell.Call) (string, error) {
		switch call.Arguments[0] {
		case "env":
			return "export HTTPS_PROXY=http://127.0.0.1:8444\n", nil
		case "kubeconfig":
			return r.kubeconfig, nil
		case "exec":
			if len(call.Arguments) < 3 || call.Arguments[1] != "--" {
				return "", fmt.Errorf("the command of lab exec has to follow --")
			}
			call.Name, call.Arguments = call.Arguments[2], call.Arguments[3:]
			if call.Name != "sh" && call.Name != "bash" {
				return shell.Play(call)
			}
			if len(call.Arguments) == 2 && call.Arguments[0] == "-c" {
				inner := &bookshell.Shell{Folder: call.Folder, Machine: shell.Machine, Programs: shell.Programs, Variables: shell.Variables}
				return "", inner.Run(call.Context, bookshell.Block{Text: call.Arguments[1] + "\n"})
			}
		}
		return "", nil
	}
}

// checkAzuresim compares the flags with the page of the reference, which is made from the program.
func (r *reader) checkAzuresim(call bookshell.Call) (string, error) {
	page, err := os.ReadFile(filepath.Join(r.root, "docs", "book", "reference", "azuresim.md"))
	if err != nil {
		return "", err
	}
	for _, argument := range call.Arguments {
		if flag, _, _ := strings.Cut(argument, "="); strings.HasPrefix(flag, "--") && !strings.Contains(string(page), "| `"+flag+"` ") &&
			!strings.Contains(string(page), "| `"+flag+" ") {
			return "", fmt.Errorf("azuresim has no flag %s", flag)
		}
	}
	return "", nil
}
