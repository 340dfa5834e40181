package scenario

import (
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
)

// block is one fenced block of a document.
type block struct {
	place, language, text string
}

// codeBlocks returns those of the README and the book, with the place as file:line.
func (l *lab) codeBlocks() []block {
	l.t.Helper()
	files := []string{filepath.Join(l.root, "README.md")}
	for _, pattern := range []string{"*.md", "*/*.md"} {
		found, err := filepath.Glob(filepath.Join(l.root, "docs", "book", pattern))
		if err != nil {
			l.t.Fatal(err)
		}
		files = append(files, found...)
	}
	var all []block
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			l.t.Fatal(err)
		}
		name, err := filepath.Rel(filepath.Join(l.root, "docs", "book"), file)
		if err != nil {
			l.t.Fatal(err)
		}
		var open *block
		for i, line := range strings.Split(string(raw), "\n") {
			language, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && open == nil:
				open = &block{place: fmt.Sprintf("%s:%d", name, i+1), language: language}
			case fence:
				all = append(all, *open)
				open = nil
			case open != nil:
				open.text += line + "\n"
			}
		}
		if open != nil {
			l.t.Errorf("%s: the block has no end", open.place)
		}
	}
	return all
}

// TestBookManifests holds every block of the README and the book against the programs: manifests against the API server
// of a lab, command lines against the programs' own help and the Makefile. A block or command that no rule here knows
// fails the test, so nothing is left out silently.
func TestBookManifests(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	checks := map[string]func(block) error{
		"yaml": l.checkYAML,
		"sh":   l.checkShell,
		"json": func(b block) error { return yaml.UnmarshalStrict([]byte(b.text), new(any)) },
		"go":   checkGo,
	}
	seen := map[string]int{}
	for _, b := range l.codeBlocks() {
		if b.language == "yaml" && filepath.Dir(b.place) != "." && !strings.HasPrefix(b.place, "..") {
			continue // parts of manifests, which tests of their folder put together and apply
		}
		check, ok := checks[b.language]
		if !ok {
			t.Errorf("%s: blocks of language %q are not checked; use sh, yaml, json or go", b.place, b.language)
			continue
		}
		seen[b.language]++
		if err := check(b); err != nil {
			t.Errorf("%s: %v", b.place, err)
		}
	}
	t.Logf("blocks: %v", seen)
	l.left = true // nothing was more than tried
	if seen["yaml"] == 0 || seen["sh"] == 0 {
		t.Error("the book has no manifest or no command line")
	}
}

// checkYAML has the API server validate and default each object. Other YAML is clusterctl's configuration, kustomizations, which test/signals
// builds, and values of the chart, with which test/installation renders it.
func (l *lab) checkYAML(b block) error {
	if strings.HasPrefix(b.text, "# values.yaml\n") {
		return yaml.UnmarshalStrict([]byte(b.text), new(map[string]any))
	}
	for document := range strings.SplitSeq(b.text, "\n---\n") {
		var object map[string]any
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			return err
		}
		if _, ok := object["providers"]; ok {
			if err := checkProviders(object); err != nil {
				return err
			}
			continue
		}
		if object["kind"] == "Kustomization" {
			continue
		}
		if _, err := l.tryWith(document, "kubectl", "apply", "--dry-run=server", "--validate=strict", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}

func checkProviders(configuration map[string]any) error {
	providers, _ := configuration["providers"].([]any)
	for _, p := range providers {
		entry, _ := p.(map[string]any)
		for _, key := range []string{"name", "type", "url"} {
			if text, _ := entry[key].(string); text == "" {
				return fmt.Errorf("clusterctl's configuration: a provider has no %s", key)
			}
		}
	}
	if len(providers) == 0 {
		return fmt.Errorf("clusterctl's configuration has no provider")
	}
	return nil
}

func checkGo(b block) error {
	_, err := parser.ParseFile(token.NewFileSet(), b.place, b.text, parser.AllErrors)
	return err
}

// foreign are commands of the documents that are not ours, with the reason why they are not held against anything.
var foreign = map[string]string{
	"az":                 "the Azure CLI is not part of the lab",
	"base64":             "part of every Linux",
	"bash":               "part of every Linux",
	"cat":                "part of every Linux",
	"sh":                 "part of every Linux; a command in quotes is not looked at",
	"cd":                 "part of the shell",
	"cluster-autoscaler": "its module is not on Go's module proxy, so it cannot be built here; the page states that it has not been run",
	"curl":               "not part of the lab",
	"date":               "part of every Linux",
	"echo":               "part of the shell",
	"eval":               "part of the shell; the command that it evaluates is checked by itself",
	"export":             "part of the shell",
	"helm":               "not part of the lab",
	"kind":               "not part of the lab",
	"go":                 "its packages are those of this repository, and their own tests run them",
	"jq":                 "not part of the lab",
	"sed":                "part of every Linux",
	"ssh":                "not part of the lab",
	"tail":               "part of every Linux",
	"tar":                "TestInstallation of hack/release/plugin runs it",
	"azurediskplugin":    "TestAzuredisk of test/programs runs it",
	"terraform":          "TestAzapi of test/programs runs it",
}

// checkShell looks at every command of a block: does the program, the subcommand, the flag or the target exist?
func (l *lab) checkShell(b block) error {
	text := strings.ReplaceAll(b.text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " # ")
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, command := range commandsOf(line) {
			if err := l.checkCommand(command); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
	}
	return nil
}

var substitution = regexp.MustCompile(`\$\(([^()]*)\)`)

// commandsOf splits a line into commands of plain words: those of pipes and lists, and those in $(...).
func commandsOf(line string) [][]string {
	var commands [][]string
	for _, inner := range substitution.FindAllStringSubmatch(line, -1) {
		commands = append(commands, commandsOf(inner[1])...)
	}
	line = substitution.ReplaceAllString(line, "SUBSTITUTED")
	var words []string
	end := func() {
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words = nil
	}
	for _, word := range splitWords(line) {
		switch word {
		case "|", "&&", "||", ";", "&":
			end()
		default:
			words = append(words, word)
		}
	}
	end()
	return commands
}

// splitWords splits at spaces outside quotes, and keeps what quotes enclose.
func splitWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ' ':
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		default:
			word.WriteRune(r)
		}
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

func (l *lab) checkCommand(words []string) error {
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:] // NAME=value before a command
	}
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, ">") || strings.HasPrefix(w, "<") }); i >= 0 {
		words = words[:i] // where output goes
	}
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	switch program := strings.TrimPrefix(words[0], "bin/"); program {
	case "make":
		return l.checkMake(words[1:])
	case "kubectl":
		if len(words) > 1 && words[1] == "capz" {
			return l.checkProgram("kubectl-capz", words[2:])
		}
		return l.checkProgram(program, words[1:])
	case "lab", "azuresim", "clusterctl", "cloud-controller-manager":
		if i := slices.Index(words, "--"); i >= 0 && words[1] == "exec" {
			if err := l.checkCommand(words[i+1:]); err != nil {
				return err
			}
		}
		return l.checkProgram(program, words[1:])
	default:
		if foreign[program] == "" {
			return fmt.Errorf("no rule here knows the command %s", program)
		}
	}
	return nil
}

// makeFlags are variables of the Makefile with flags of a subcommand of the lab.
var makeFlags = map[string]string{"LAB_FLAGS": "up", "BENCH_FLAGS": "bench"}

// checkMake checks that the Makefile offers the target in its help. Flags for the lab are compared with its
// subcommands, and scenarios to measure with the existing ones.
func (l *lab) checkMake(words []string) error {
	makefile, err := os.ReadFile(filepath.Join(l.root, "Makefile"))
	if err != nil {
		return err
	}
	for _, word := range words {
		if name, value, ok := strings.Cut(word, "="); ok {
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` \?=`).Match(makefile) {
				return fmt.Errorf("the Makefile has no variable %s", name)
			}
			if subcommand := makeFlags[name]; subcommand != "" {
				if err := l.checkProgram("lab", append([]string{subcommand}, strings.Fields(value)...)); err != nil {
					return err
				}
			}
			if name == "BENCH" {
				for scenario := range strings.FieldsSeq(value) {
					if _, err := bench.FindScenario(scenario); err != nil {
						return err
					}
				}
			}
			continue
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(word) + `:.*## `).Match(makefile) {
			return fmt.Errorf("the Makefile has no target %s with a line of help", word)
		}
	}
	return nil
}

// checkProgram asks the program's help whether the subcommand and its flags exist.
func (l *lab) checkProgram(program string, words []string) error {
	var subcommands []string
	if program != "azuresim" {
		// Subcommands come first; what follows are arguments or flags, which the help of the deepest subcommand tells.
		for _, word := range words {
			out, err := l.tryProgram(program, append(slices.Clone(subcommands), "--help")...)
			if err != nil {
				return err
			}
			if !regexp.MustCompile(`(?m)^  ` + regexp.QuoteMeta(word) + ` `).MatchString(out) {
				break
			}
			subcommands = append(subcommands, word)
		}
		if len(subcommands) == 0 && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
			return fmt.Errorf("%s has no subcommand %s", program, words[0])
		}
	}
	help, err := l.tryProgram(program, append(slices.Clone(subcommands), "--help")...)
	if err != nil {
		return err
	}
	if program == "kubectl" {
		global, err := l.tryProgram("kubectl", "options")
		if err != nil {
			return err
		}
		help += global
	}
	for _, word := range words {
		if word == "--" {
			break // The command of another program follows.
		}
		flag, _, _ := strings.Cut(word, "=")
		if !strings.HasPrefix(flag, "-") || flag == "-" {
			continue
		}
		if !regexp.MustCompile(`(?m)(^|[\s,])` + regexp.QuoteMeta(flag) + `([\s,=:]|$)`).MatchString(help) {
			return fmt.Errorf("%s %s has no flag %s", program, strings.Join(subcommands, " "), flag)
		}
	}
	return nil
}
