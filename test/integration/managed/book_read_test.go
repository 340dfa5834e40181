package managed_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// snippet is a piece of a manifest in the book: the part that a reader merges into the objects of the flavor.
type snippet struct {
	// place is the page and line, heading the nearest heading before it.
	place, page, heading string
	documents            []document
}

// document has the part of a spec that is merged into one object.
type document struct {
	kind, name string
	spec       map[string]any
}

// whole are the pages with manifests that are no parts of the flavor's; the tests of pools and of documents apply them.
const whole = "scale-sets.md resource-manifests.md"

// readSnippets returns those of docs/book/aks, in order.
func readSnippets(t *testing.T) []snippet {
	t.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "book", "aks", "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("pages of the book: %v, %v", files, err)
	}
	files = append(files, filepath.Join(root, "docs", "book", flavors.Neighbours, "entra-kubernetes-rbac.md"))
	var out []snippet
	for _, file := range files {
		if strings.Contains(whole, filepath.Base(file)) {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, heading, inBlock := filepath.Base(file), "", ""
		var text strings.Builder
		for i, line := range strings.Split(string(raw), "\n") {
			language, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && inBlock == "":
				inBlock = language
				text.Reset()
			case fence:
				// A block with an apiVersion is an object of the cluster itself.
				if inBlock == "yaml" && !strings.HasPrefix(text.String(), "apiVersion:") {
					place := fmt.Sprintf("%s:%d", page, i+1)
					out = append(out, snippet{place: place, page: strings.TrimSuffix(page, ".md"), heading: heading,
						documents: readManifests(t, place, text.String())})
				}
				inBlock = ""
			case inBlock != "":
				text.WriteString(line + "\n")
			case strings.HasPrefix(line, "#"):
				heading = strings.TrimLeft(line, "# ")
			}
		}
	}
	return out
}

// readManifests reads a block. It can have only the kinds that the page about features promises.
func readManifests(t *testing.T, place, text string) []document {
	t.Helper()
	var out []document
	for part := range strings.SplitSeq(text, "\n---\n") {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Spec map[string]any `json:"spec"`
		}
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			t.Fatalf("%s: %v", place, err)
		}
		pool := object.Kind == "AzureManagedMachinePool" || object.Kind == "MachinePool"
		if object.Spec == nil || pool == (object.Metadata.Name == "") {
			t.Fatalf("%s: a piece has a kind and a spec, and that of a pool the pool's name: %s", place, part)
		}
		out = append(out, document{kind: object.Kind, name: object.Metadata.Name, spec: object.Spec})
	}
	return out
}

// manifestsOf returns the documents of a kind and name.
func (s snippet) manifestsOf(kind, name string) []map[string]any {
	var out []map[string]any
	for _, d := range s.documents {
		if d.kind == kind && d.name == name {
			out = append(out, d.spec)
		}
	}
	return out
}
