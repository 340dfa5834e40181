package architecture

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// contractPage describes for users how the kinds follow the rules. contractTests has the tests of each rule.
const (
	contractPage  = "../../docs/book/contract.md"
	contractTests = "../../docs/design/contract.md"
)

// keptPages are the pages of Cluster API's contract that this provider implements. otherPages are about features that
// it does not have, or have no rules.
var (
	keptPages  = []string{"clusterctl.md", "control-plane.md", "infra-cluster.md", "infra-machine.md", "infra-machinepool.md"}
	otherPages = []string{"bootstrap-config.md", "ipam.md", "overview.md"}
)

// TestDemands reads rules from a page.
func TestDemands(t *testing.T) {
	const page = "You MUST do\nthis. It is good. You\nSHOULD do that.\n\nA thing MUST:\n\n- be\n- have\n\n```go\n// It SHOULD\n// be short.\n```\n\nmust not count\n"
	want := []string{"You MUST do this.", "You SHOULD do that.", "A thing MUST: - be - have", "// It SHOULD"}
	if diff := cmp.Diff(want, findDemands(page)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestContractRules compares the rules of Cluster API's module with those that the book's page is held against.
func TestContractRules(t *testing.T) {
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(strings.TrimSpace(string(module)), "docs", "book", "src", "developer", "providers", "contracts")
	pages, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	there := map[string]bool{}
	for _, page := range pages {
		name := filepath.Base(page)
		names = append(names, name)
		if !slices.Contains(keptPages, name) {
			continue
		}
		raw, err := os.ReadFile(filepath.Clean(page))
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range findDemands(string(raw)) {
			there[sentence] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(slices.Concat(keptPages, otherPages))), names); diff != "" {
		t.Errorf("Cluster API's contract has other pages (-known +has):\n%s", diff)
	}
	known := map[string]bool{}
	for _, sentences := range contractRules(t) {
		for _, sentence := range sentences {
			if known[sentence] {
				t.Errorf("two rules have the sentence %q", sentence)
			}
			known[sentence] = true
		}
	}
	if diff := cmp.Diff(known, there); diff != "" {
		t.Errorf("Cluster API's contract has other rules than testdata/contract.txt (-known +has). Add each new one to testdata/contract.txt, under a rule of docs/book/contract.md:\n%s", diff)
	}
}

// TestContractPage compares the page about the contract and the note with its tests: with the rules, the installed kinds and the existing tests.
func TestContractPage(t *testing.T) {
	raw, err := os.ReadFile(contractPage)
	if err != nil {
		t.Fatal(err)
	}
	roles, rest, ok := strings.Cut(string(raw), "\n## Definitions\n")
	if !ok {
		t.Fatalf("%s has no section Definitions", contractPage)
	}
	of := map[string]bool{"all": true, "none": true}
	var kinds []string
	for _, row := range tableRows(roles, 2) {
		of[row[0]] = true
		for kind := range strings.SplitSeq(row[1], ", ") {
			of[kind] = true
			kinds = append(kinds, kind)
			if base, is := strings.CutSuffix(kind, "Template"); is != (row[0] == "Template") || is && !strings.Contains(roles, " "+base+",") &&
				!strings.Contains(roles, " "+base+" ") {
				t.Errorf("%s is of the role %s", kind, row[0])
			}
		}
	}
	if diff := cmp.Diff(installedKinds(t), slices.Sorted(slices.Values(kinds))); diff != "" {
		t.Errorf("kinds with a role (-installed +page):\n%s", diff)
	}
	kindsOf, notMet := map[string]string{}, map[string]bool{}
	for _, row := range tableRows(rest, 3) {
		kindsOf[row[0]] = row[1]
		if strings.Contains(row[2], "Not met") {
			notMet[row[0]] = true
		}
		for kind := range strings.SplitSeq(row[1], ", ") {
			if !of[kind] {
				t.Errorf("%s: %q is neither a role nor a kind", row[0], kind)
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(contractRules(t))), slices.Sorted(maps.Keys(kindsOf))); diff != "" {
		t.Errorf("rules (-contract +page):\n%s", diff)
	}
	explained := map[string]bool{}
	for _, row := range tableRows(roles, 3) {
		explained[row[0]] = true
	}
	if diff := cmp.Diff(notMet, explained); diff != "" {
		t.Errorf("rules whose rows contain \"Not met\" and rules of the table with the reasons (-rows +table):\n%s", diff)
	}
	note, err := os.ReadFile(contractTests)
	if err != nil {
		t.Fatal(err)
	}
	tests, tested := folders{}, map[string]string{}
	for _, row := range tableRows(string(note), 2) {
		tested[row[0]] = kindsOf[row[0]]
		if row[1] == "–" && kindsOf[row[0]] == "none" {
			continue
		}
		for test := range strings.SplitSeq(row[1], ", ") {
			if parts := named.FindStringSubmatch(test); parts == nil {
				t.Errorf("%s: %s names no test", row[0], test)
			} else if !tests.hasTest(t, parts[1], parts[2], parts[3]) {
				t.Errorf("%s: there is no test %s", row[0], test)
			}
		}
	}
	if diff := cmp.Diff(kindsOf, tested); diff != "" {
		t.Errorf("rules of %s and of %s (-page +note):\n%s", contractPage, contractTests, diff)
	}
}

// TestContractOfTheRelease compares the contract that metadata.yaml announces for the newest release with that on each definition.
func TestContractOfTheRelease(t *testing.T) {
	var metadata struct {
		ReleaseSeries []struct{ Contract string }
	}
	readYAML(t, "../../metadata.yaml", &metadata)
	if len(metadata.ReleaseSeries) == 0 {
		t.Fatal("metadata.yaml has no series of releases")
	}
	for _, definition := range loadDefinitions(t) {
		if label := "cluster.x-k8s.io/" + metadata.ReleaseSeries[0].Contract; definition.Metadata.Labels[label] == "" {
			t.Errorf("the definition of %s has no label %s", definition.Spec.Names.Kind, label)
		}
	}
}

// contractRules returns the sentences of the contract by rule.
func contractRules(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/contract.txt")
	if err != nil {
		t.Fatal(err)
	}
	out, rule := map[string][]string{}, ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			rule = strings.Trim(line, "[]")
		default:
			out[rule] = append(out[rule], line)
		}
	}
	return out
}

var rule = regexp.MustCompile(`^\|(---\|)+$`)

// tableRows returns the rows of all tables in a text with so many columns, without their heads.
func tableRows(text string, columns int) [][]string {
	var out [][]string
	body := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case rule.MatchString(line):
			body = true
		case !strings.HasPrefix(line, "| "):
			body = false
		case body:
			row := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ")
			if len(row) == columns {
				out = append(out, row)
			}
		}
	}
	return out
}

type definition struct {
	Metadata struct{ Labels map[string]string }
	Spec     struct{ Names struct{ Kind string } }
}

func loadDefinitions(t *testing.T) []definition {
	t.Helper()
	files, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]definition, len(files))
	for i, file := range files {
		readYAML(t, file, &out[i])
	}
	return out
}

func installedKinds(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, definition := range loadDefinitions(t) {
		out = append(out, definition.Spec.Names.Kind)
	}
	return slices.Sorted(slices.Values(out))
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
