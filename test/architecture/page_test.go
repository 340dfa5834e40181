package architecture

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestArchitecturePage compares docs/architecture.md with the code.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range checkPage(string(page), files, existsHere) {
		t.Errorf("docs/architecture.md: %s", finding)
	}
}

// TestPathsOfPages looks for the paths and the names in packages that the guide for contributors and the design notes have.
func TestPathsOfPages(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	declared := declaredNames(files)
	pages, err := filepath.Glob("../../docs/design/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "../../CONTRIBUTING.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range append(checkPaths(string(page), existsHere), checkCodeNames(string(page), declared)...) {
			t.Errorf("%s: %s", name, finding)
		}
	}
}

// existsHere reports whether the repository has a path, which may have a "*".
func existsHere(name string) bool {
	found, err := filepath.Glob(filepath.Join("../..", name))
	return err == nil && len(found) > 0
}

// TestCheckPage checks a page with a violation of each rule; it expects a finding.
func TestCheckPage(t *testing.T) {
	const rows = "\n## Annotations\n\n| `x.io/a` | AzureCluster |\n| `short` | AzureMachine |\n| `cluster.x-k8s.io/paused` | all |\n\n## Next\n"
	const declared = `package v1
import "sigs.k8s.io/cluster-api/util/annotations"
const (
	AAnnotation = "x.io/a"
	ShortAnnotation = "short"
	AFinalizer = "x.io/finalizer"
	ALabel = "x.io/label"
	version = "x.io/v1beta1"
)
func F() { annotations.HasPaused(nil) }
`
	tests := map[string]struct {
		reason, page, code string
		want               []string
	}{
		"in line":           {reason: "paths, names and annotations exist", page: "`api/v1` `v1.F`" + rows, code: declared},
		"of another module": {reason: "its paths are its own", page: "k8s.io/api/core/v1 cluster-api/util/paused" + rows, code: declared},
		"a path": {reason: "the folder was renamed", page: "internal/pass" + rows, code: declared,
			want: []string{"there is no internal/pass"}},
		"a name": {reason: "the function was renamed", page: "`v1.G`" + rows, code: declared,
			want: []string{"no package v1 has a G"}},
		"a package": {reason: "the package was renamed", page: "`v2.F`" + rows, code: declared, want: []string{"no package v2 has a F"}},
		"not in the code": {reason: "the annotation was removed", page: rows, code: strings.Replace(declared, "x.io/a", "x.io/b", 1),
			want: []string{"no code has the annotation x.io/a", "the annotation x.io/b of api/v1/a.go is not listed"}},
		"not on the page": {reason: "a literal is an annotation as well", page: rows,
			code: declared + "func H() string { return \"x.io/c\" }\n", want: []string{"the annotation x.io/c of api/v1/a.go is not listed"}},
		"of another project": {reason: "its key is not known here", page: rows, code: declared + "func H() { annotations.Other() }\n",
			want: []string{"api/v1/a.go:11:12 uses sigs.k8s.io/cluster-api/util/annotations.Other"}},
		"twice": {reason: "two rows would contradict each other",
			page: strings.Replace(rows, "| `short`", "| `x.io/a` | AzureMachine |\n| `short`", 1), code: declared,
			want: []string{"the annotation x.io/a is listed twice"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files, err := readSource(fstest.MapFS{"api/v1/a.go": {Data: []byte(test.code)}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i, finding := range checkPage(test.page, files, func(name string) bool { return slices.Contains([]string{"api/v1"}, name) }) {
				if i < len(test.want) && strings.HasPrefix(finding, test.want[i]) {
					finding = test.want[i]
				}
				got = append(got, finding)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", test.reason, diff)
			}
		})
	}
}
