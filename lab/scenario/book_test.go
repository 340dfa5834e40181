package scenario

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
)

// codeBlocks returns the fenced blocks of all pages.
func (l *lab) codeBlocks() []bookshell.Block {
	l.t.Helper()
	blocks, err := bookshell.ReadBlocks(l.root)
	if err != nil {
		l.t.Fatal(err)
	}
	return slices.DeleteFunc(blocks, func(b bookshell.Block) bool { return b.Language == bookshell.Inline })
}

// TestBookManifests checks that the API server of a lab admits every manifest of the README and the book. TestCommands of test/flavors/book
// runs the commands. A block that no rule knows fails the test, so nothing is left out silently.
func TestBookManifests(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	checks := map[string]func(bookshell.Block) error{
		"yaml": l.checkYAML,
		"sh":   func(bookshell.Block) error { return nil },
		"json": func(b bookshell.Block) error { return yaml.UnmarshalStrict([]byte(b.Text), new(any)) },
		"go":   checkGo,
	}
	seen := map[string]int{}
	for _, b := range l.codeBlocks() {
		book, inBook := strings.CutPrefix(b.Page, "docs/book/")
		if b.Language == "yaml" && strings.Contains(book, "/") && inBook {
			continue // parts of manifests, which tests of their folder put together and apply
		}
		if strings.HasPrefix(b.Page, "docs/") && !inBook {
			continue // for contributors; users do not apply their trees and texts
		}
		check, ok := checks[b.Language]
		if !ok {
			t.Errorf("%s: blocks of language %q are not checked; use sh, yaml, json or go", b.Place(), b.Language)
			continue
		}
		seen[b.Language]++
		if err := check(b); err != nil {
			t.Errorf("%s: %v", b.Place(), err)
		}
	}
	t.Logf("blocks: %v", seen)
	l.left = true // nothing was more than tried
	if seen["yaml"] == 0 {
		t.Error("the book has no manifest")
	}
}

// checkYAML has the API server validate and default each object. Other YAML is clusterctl's configuration, kustomizations, which test/signals
// builds, and values of the chart, with which test/installation renders it.
func (l *lab) checkYAML(b bookshell.Block) error {
	if strings.HasPrefix(b.Text, "# values.yaml\n") {
		return yaml.UnmarshalStrict([]byte(b.Text), new(map[string]any))
	}
	for document := range strings.SplitSeq(b.Text, "\n---\n") {
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

func checkGo(b bookshell.Block) error {
	_, err := parser.ParseFile(token.NewFileSet(), b.Place(), b.Text, parser.AllErrors)
	return err
}
