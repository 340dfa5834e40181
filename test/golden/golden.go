// Package golden compares results with golden files, for tests of plans and of manifests.
//
// Its promise: a test whose result differs from the golden file fails, unless -update is given, which rewrites the file. A case NAME of
// a plan is the file testdata/NAME.in.yaml of the package under test, and its golden file is NAME.plan.yaml beside it. The package is not
// below internal/plan because nothing there touches files.
package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const inputSuffix = ".in.yaml"

func caseFile(name, suffix string) string { return filepath.Join("testdata", name+suffix) }

// CaseNames returns the names of all cases.
func CaseNames(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(caseFile("*", inputSuffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var names []string
	for _, path := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(path), inputSuffix))
	}
	return names
}

// ReadDocuments returns the YAML documents of a case.
func ReadDocuments(t testing.TB, name string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(caseFile(name, inputSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(raw, []byte("\n---\n"))
}

// ReadCase reads the documents of a case that has one of each kind at the most: each goes where targets has for its kind, with ""
// for the one that is no object. Those that the case does not have stay as they are, any other kind fails the test.
func ReadCase(t testing.TB, name string, targets map[string]Target) {
	t.Helper()
	for _, document := range ReadDocuments(t, name) {
		var kind struct{ Kind string }
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		target, ok := targets[kind.Kind]
		if !ok {
			t.Fatalf("%s: unknown kind %q", name, kind.Kind)
		}
		target(t, document)
	}
}

// Target takes a document.
type Target func(t testing.TB, document []byte)

// DecodeInto returns the target that decodes into *into.
func DecodeInto[T any](into **T) Target {
	return func(t testing.TB, document []byte) {
		t.Helper()
		*into = DecodeDocument[T](t, document)
	}
}

// DecodeDocument reads a document. A field that T does not have fails the test.
func DecodeDocument[T any](t testing.TB, document []byte) *T {
	t.Helper()
	out := new(T)
	if err := yaml.UnmarshalStrict(document, out); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	return out
}

// RunCases runs every case as a subtest and compares what render gives with the case's golden file.
func RunCases(t *testing.T, render func(t *testing.T, name string) []byte) {
	t.Helper()
	for _, name := range CaseNames(t) {
		t.Run(name, func(t *testing.T) {
			CompareFile(t, caseFile(name, ".plan.yaml"), render(t, name))
		})
	}
}

// CompareFile compares a result with its golden file, or rewrites the file with -update.
func CompareFile(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: run make golden", err)
	}
	if diff := gocmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got). If the change is intended, run make golden and review the files:\n%s", file, diff)
	}
}

// Node is an arm.Node as golden files show it.
type Node struct {
	ID       arm.ID            `json:"id"`
	Policy   arm.Policy        `json:"policy"`
	Foreign  arm.ForeignAction `json:"foreign,omitempty"`
	Group    string            `json:"group"`
	After    []arm.ID          `json:"after,omitempty"`
	Owned    []string          `json:"owned,omitempty"`
	DropTags []string          `json:"dropTags,omitempty"`
	Blocked  string            `json:"blocked,omitempty"`
	Refused  string            `json:"refused,omitempty"`
	Body     any               `json:"body,omitempty"`
	// Differs are the paths at which Azure's resource differs from the plan; it is present if the case has a resource
	// of Azure.
	Differs *[]string `json:"differs,omitempty"`
}

// DescribeNodes returns the nodes of a plan in their order, each of which must have a known type, a group and a policy, and a body that
// Azure's definition of the type allows. versions are the api-versions of types that are not spoken to in that of the table.
func DescribeNodes(t *testing.T, graph *arm.Graph, versions map[string]string) []Node {
	t.Helper()
	var out []Node
	for _, n := range orderNodes(t, graph) {
		row, err := types.ForID(n.ID)
		if err != nil || n.Group == "" || n.Policy == "" {
			t.Errorf("%s has no known type, group or policy: %v", n.ID, err)
		}
		if n.Foreign == arm.AdoptForeign && n.Body != nil && n.PlannedWithTag != hasClusterTag(t, n.Body) {
			t.Errorf("the plan's PlannedWithTag of %s (%t) contradicts its body", n.ID, n.PlannedWithTag)
		}
		checkBody(t, n, cmp.Or(versions[row.Name], row.APIVersion))
		out = append(out, Node{n.ID, n.Policy, n.Foreign, n.Group, n.After, n.OwnedPaths, n.DropTags, n.Blocked, n.Refused, n.Body, nil})
	}
	return out
}

// hasClusterTag reports whether a body has the tag with the name of its cluster.
func hasClusterTag(t *testing.T, body any) bool {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var resource struct{ Tags map[string]string }
	if err := json.Unmarshal(raw, &resource); err != nil {
		t.Fatal(err)
	}
	for key := range resource.Tags {
		if infrav1.Marks(key) {
			return true
		}
	}
	return false
}

// DescribeDeletion is the plan of a deletion, the first deletion at the top. Each resource has a condition, which shows
// why it is not gone.
func DescribeDeletion(t *testing.T, graph *arm.Graph) []string {
	t.Helper()
	var out []string
	for _, n := range orderNodes(t, graph) {
		if n.Group == "" {
			t.Errorf("no condition shows why %s is not deleted", n.ID)
		}
		out = append([]string{string(n.ID)}, out...)
	}
	return out
}

func orderNodes(t *testing.T, graph *arm.Graph) []*arm.Node {
	t.Helper()
	nodes, err := graph.TopologicalOrder()
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}
