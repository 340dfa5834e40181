package reference

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

var update = flag.Bool("update", false, "rewrite docs/book/reference")

const folder = "../../docs/book/reference"

// TestPages compares docs/book/reference with the code.
func TestPages(t *testing.T) {
	pages, err := renderAll(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	for name, page := range pages {
		entries += page.entries
		file := filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(file, []byte(page.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != page.text {
			t.Errorf("docs/book/reference/%s is out of date. Run: go test ./test/reference -update. %v", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if _, ok := pages[name]; !ok && otherPages[name] == "" {
			t.Errorf("docs/book/reference/%s is made by no code. Delete it", name)
		}
	}
	t.Logf("%d pages, %d entries", len(pages), entries)
}

// TestEveryFieldHasAnEntry counts the fields of the definitions and the rows of the pages: each field has one row, in spec and status. Each rule
// of the definitions is on the page, too.
func TestEveryFieldHasAnEntry(t *testing.T) {
	kinds, err := readKinds(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `((?:spec|status)[^`]*)` \\|")
	total := 0
	for _, k := range kinds {
		page := k.render().String()
		rows := map[string]int{}
		for _, match := range row.FindAllStringSubmatch(page, -1) {
			rows[match[1]]++
		}
		for path, count := range rows {
			if count != 1 {
				t.Errorf("%s: %s has %d rows", k.name(), path, count)
			}
		}
		if want := k.existingFields(); len(rows) != want {
			t.Errorf("%s: the page has %d fields, the definition %d", k.name(), len(rows), want)
		}
		total += len(rows)
		raw, err := yaml.Marshal(k.schema())
		if err != nil {
			t.Fatal(err)
		}
		var schema any
		if err := yaml.Unmarshal(raw, &schema); err != nil {
			t.Fatal(err)
		}
		for _, message := range ruleMessages(schema) {
			if !strings.Contains(page, plain(message)) {
				t.Errorf("%s: the page lacks the rule %q", k.name(), message)
			}
		}
	}
	t.Logf("%d fields of %d kinds", total, len(kinds))
	if total < 1500 {
		t.Errorf("only %d fields were found", total)
	}
}

// ruleMessages returns the messages of all rules in a schema.
func ruleMessages(schema any) (out []string) {
	switch schema := schema.(type) {
	case map[string]any:
		for key, value := range schema {
			if rules, ok := value.([]any); ok && key == "x-kubernetes-validations" {
				for _, rule := range rules {
					if message, ok := rule.(map[string]any)["message"].(string); ok {
						out = append(out, message)
					}
				}
				continue
			}
			out = append(out, ruleMessages(value)...)
		}
	case []any:
		for _, value := range schema {
			out = append(out, ruleMessages(value)...)
		}
	}
	return out
}

// TestExamples applies the example of each kind to an API server in memory with the definitions and the webhooks; it expects that it is
// admitted. Only programs create objects of kinds without an example.
func TestExamples(t *testing.T) {
	kinds, err := readKinds(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	stored, err := kubernetes.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*admission.Schema{}
	server, err := admission.New(stored, stored.Scheme(), plan.Features{ASOAPI: true}, schemas)
	if err != nil {
		t.Fatal(err)
	}
	var without []string
	for _, k := range kinds {
		if k.example == "" {
			without = append(without, k.name())
			continue
		}
		if schemas[k.name()], err = admission.LoadSchema(k.Spec.Names.Plural); err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(k.example), &object.Object); err != nil {
			t.Fatal(err)
		}
		if _, err := server.AdmitManifest(t.Context(), nil, object); err != nil {
			t.Errorf("%s: %v", k.name(), err)
		}
		if strings.Contains(k.example, "${") {
			t.Errorf("%s: the example has a variable", k.name())
		}
	}
	if want := []string{"AzureMachine", "AzureMachinePoolMachine"}; !slices.Equal(without, want) {
		t.Errorf("the kinds %v have no example, want only %v, which Cluster API and the provider make", without, want)
	}
}

// TestRemedies makes sure that remedies are those of existing codes of the class, and that the list of classes is complete.
func TestRemedies(t *testing.T) {
	codes, err := readCodes(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(remedies)
	for _, c := range codes {
		delete(unused, c.code)
		if !slices.ContainsFunc(classes, func(class struct{ name, title, action string }) bool { return class.name == c.class }) {
			t.Errorf("%s has the class %s, which the page lacks", c.code, c.class)
		}
	}
	for code := range unused {
		t.Errorf("there is a remedy for %s, and no such code", code)
	}
	if len(codes) < 80 {
		t.Errorf("only %d codes were found", len(codes))
	}
}

// TestManagerVariables compares the list of variables with those that the manager's packages read. The SDK of OpenTelemetry reads its own.
func TestManagerVariables(t *testing.T) {
	unread := maps.Clone(managerVariables)
	maps.DeleteFunc(unread, func(name, _ string) bool { return strings.HasPrefix(name, "OTEL_") })
	getenv := regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("(\w+)"\)`)
	for _, code := range []string{"../../cmd/manager", "../../internal"} {
		err := filepath.WalkDir(code, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(path)
			for _, match := range getenv.FindAllStringSubmatch(string(raw), -1) {
				if managerVariables[match[1]] == "" {
					t.Errorf("%s reads %s. Add it to managerVariables", path, match[1])
				}
				delete(unread, match[1])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range unread {
		t.Errorf("managerVariables has %s, which the manager does not read", name)
	}
}

// TestPlain renders texts whose characters Markdown would read as markup.
func TestPlain(t *testing.T) {
	for name, test := range map[string]struct{ reason, text, want string }{
		"table":     {"a bar ends a cell", "a|b", `a\|b`},
		"HTML":      {"a tag would vanish", "<name> of it", `&lt;name> of it`},
		"emphasis":  {"stars and underscores are kept", "* and _x_", `\* and \_x\_`},
		"code":      {"code stays code", "set `a_b|c` now", "set `a_b\\|c` now"},
		"address":   {"addresses stay links", "see https://example.com/a_b now", "see https://example.com/a_b now"},
		"part":      {"an address with a part to fill in is none", "https://<vault>.example", "https://&lt;vault>.example"},
		"one quote": {"a single backtick is no code", "a`b", "a\\`b"},
		"lines":     {"cells have one line", "a\n  b", "a b"},
	} {
		if got := plain(test.text); got != test.want {
			t.Errorf("%s: %s: got %q, want %q", name, test.reason, got, test.want)
		}
	}
}
