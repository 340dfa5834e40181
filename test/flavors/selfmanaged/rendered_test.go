package selfmanaged_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// sources are folders of templates/flavors that are no flavors.
var sources = []string{"base", "class", "components", "identity"}

func templateFile(flavor string) string {
	switch flavor {
	case "default":
		return "cluster-template.yaml"
	case "clusterclass-default":
		return flavor + ".yaml"
	}
	return "cluster-template-" + flavor + ".yaml"
}

// TestRenderedFlavors compares each template with the output of kustomize for its sources, and each source with the flavors that are tested
// here.
func TestRenderedFlavors(t *testing.T) {
	t.Parallel()
	root := flavors.RepositoryRoot(t)
	entries, err := os.ReadDir(filepath.Join(root, "templates", "flavors"))
	if err != nil {
		t.Fatal(err)
	}
	var there []string
	for _, entry := range entries {
		flavor := entry.Name()
		if slices.Contains(sources, flavor) {
			continue
		}
		there = append(there, flavor)
		t.Run(flavor, func(t *testing.T) {
			t.Parallel()
			want := flavors.RunProgram(t, nil, "kustomize", "build", filepath.Join("templates", "flavors", flavor))
			got, err := os.ReadFile(filepath.Join(root, "templates", templateFile(flavor)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("templates/%s is out of date, run `make templates` (-want +got):\n%s", templateFile(flavor), diff)
			}
		})
	}
	templates, err := filepath.Glob(filepath.Join(root, "templates", "cluster-template*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range templates {
		if name := filepath.Base(template); !strings.Contains(name, "-aks") &&
			!slices.ContainsFunc(there, func(flavor string) bool { return templateFile(flavor) == name }) {
			t.Errorf("templates/%s has no source in templates/flavors", name)
		}
	}
}

// variable is one in a template: its name, and what follows it.
var variable = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)`)

// TestFlavorVariables compares the variables of templates with the tables of the book: each variable of a template is documented, and the
// book has no other.
func TestFlavorVariables(t *testing.T) {
	t.Parallel()
	root := flavors.RepositoryRoot(t)
	book, err := os.ReadFile(filepath.Join(root, "docs", "book", "selfmanaged", "flavors.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(book)) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), " | "); ok && strings.HasPrefix(line, "| `") {
			for _, name := range regexp.MustCompile(`[A-Z][A-Z0-9]*(_[A-Z0-9]+)+`).FindAllString(first, -1) {
				documented[name] = false
			}
		}
	}
	templates, err := filepath.Glob(filepath.Join(root, "templates", "cluster-template*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, template := range templates {
		if strings.Contains(template, "-aks") {
			continue
		}
		raw, err := os.ReadFile(template)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range variable.FindAllStringSubmatch(string(raw), -1) {
			if _, ok := documented[match[1]]; !ok {
				t.Errorf("%s has the variable %s, which docs/book/selfmanaged/flavors.md does not explain", filepath.Base(template), match[1])
			}
			documented[match[1]] = true
		}
	}
	for name, used := range documented {
		if !used {
			t.Errorf("docs/book/selfmanaged/flavors.md explains the variable %s, which no template has", name)
		}
	}
}

// TestClassesHaveNoNamespace reads the files that clusterctl and users apply for ClusterClasses: their objects go where they are applied.
func TestClassesHaveNoNamespace(t *testing.T) {
	t.Parallel()
	for name, objects := range readTemplates(t, "clusterclass-*.yaml") {
		for _, object := range objects {
			if namespace := object.GetNamespace(); namespace != "" {
				t.Errorf("%s: %s %s has the namespace %s", name, object.GetKind(), object.GetName(), namespace)
			}
		}
	}
}

// TestTemplatesHaveOneNamespace reads the templates, whose objects clusterctl puts into the namespace that it is asked for: they make none, and
// before that no object is in another one than kubectl's own.
func TestTemplatesHaveOneNamespace(t *testing.T) {
	t.Parallel()
	for name, objects := range readTemplates(t, "cluster-template*.yaml") {
		for _, object := range objects {
			if object.GetKind() == "Namespace" || !slices.Contains([]string{"", "default"}, object.GetNamespace()) {
				t.Errorf("%s: %s %s is in the namespace %q", name, object.GetKind(), object.GetName(), object.GetNamespace())
			}
		}
	}
}

// readTemplates returns the objects of templates by file.
func readTemplates(t *testing.T, pattern string) map[string][]*unstructured.Unstructured {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(flavors.RepositoryRoot(t), "templates", pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	out := map[string][]*unstructured.Unstructured{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := flavors.DecodeManifest(raw)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = objects
	}
	return out
}
