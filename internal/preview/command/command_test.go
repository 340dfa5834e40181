package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
)

var update = flag.Bool("update", false, "rewrite golden files")

// plan runs the verb without any connection.
func plan(t *testing.T, input string, arguments ...string) (string, error) {
	t.Helper()
	return planWith(t, io.Discard, input, arguments...)
}

// planWith runs the verb without any connection and with a standard error.
func planWith(t *testing.T, standardError io.Writer, input string, arguments ...string) (string, error) {
	t.Helper()
	e := &environment.Environment{
		Version:  "test",
		OpenFile: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		OpenFolder: func(name string) (fs.FS, bool) {
			info, err := os.Stat(name)
			return os.DirFS(name), err == nil && info.IsDir()
		},
	}
	verb := command.NewCommand(e)
	e.AddFlags(verb.Flags())
	verb.SilenceUsage, verb.SilenceErrors = true, true
	out := &bytes.Buffer{}
	verb.SetOut(out)
	verb.SetErr(standardError)
	verb.SetIn(strings.NewReader(input))
	verb.SetArgs(arguments)
	err := verb.ExecuteContext(t.Context())
	return out.String(), err
}

// TestOfflinePlan compares the plan of the manifests of a whole cluster with the expected text.
func TestOfflinePlan(t *testing.T) {
	out, err := plan(t, "", "-f", "testdata/default.yaml")
	if !errors.As(err, new(environment.FoundError)) {
		t.Fatalf("a plan with changes ends with the code for findings, and not with %v", err)
	}
	golden := filepath.Join("testdata", "default.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestSources plans the same manifests from a folder and from the standard input.
func TestSources(t *testing.T) {
	raw, err := os.ReadFile("testdata/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "a", "b")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "c.yaml"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	fromFolder, _ := plan(t, "", "-f", filepath.Dir(folder))
	fromInput, _ := plan(t, string(raw), "-f", "-")
	if diff := cmp.Diff(fromFolder, fromInput); diff != "" || !strings.Contains(fromFolder, "Plan: ") {
		t.Errorf("plans of a folder and of the standard input differ (-folder +input):\n%s", diff)
	}
}

// TestNoSecrets checks that no secret of manifests is in a plan, in any format.
func TestNoSecrets(t *testing.T) {
	const canary = "canary-4711"
	raw, err := os.ReadFile("testdata/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	secret := "\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: c1-control-plane-new-0\n  namespace: default\nstringData:\n  value: " + canary +
		"\ndata:\n  value: Y2FuYXJ5LTQ3MTE=\n"
	for _, arguments := range [][]string{{"-o", "json"}, {"--details"}} {
		out, err := plan(t, string(raw)+secret, append(arguments, "-f", "-")...)
		if !errors.As(err, new(environment.FoundError)) {
			t.Fatal(err)
		}
		for _, hidden := range []string{canary, "Y2FuYXJ5LTQ3MTE="} {
			if strings.Contains(out, hidden) {
				t.Errorf("the plan with %v has a secret", arguments)
			}
		}
		if !strings.Contains(out, "customData") || !strings.Contains(out, result.Masked) {
			t.Errorf("the plan with %v does not show that there is a hidden value", arguments)
		}
	}
}

// pageCommands returns the arguments of the commands "kubectl capz plan" of the book's page.
func pageCommands(t *testing.T) (out [][]string) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/book/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if words, is := strings.CutPrefix(line, "kubectl capz plan "); is {
			out = append(out, strings.Fields(words))
		}
	}
	return out
}

// TestPage runs the command of the book's page that needs no connection. TestPlanCommandReadsTheManagementCluster runs the others.
func TestPage(t *testing.T) {
	offline := slices.DeleteFunc(pageCommands(t), func(arguments []string) bool {
		return !slices.Contains(arguments, "-f") || slices.Contains(arguments, "--live")
	})
	if len(offline) != 1 {
		t.Fatalf("the page has the commands %v without a connection, want one", offline)
	}
	arguments := offline[0]
	arguments[slices.Index(arguments, "c1.yaml")] = "testdata/default.yaml"
	if out, err := plan(t, "", arguments...); !errors.As(err, new(environment.FoundError)) || !strings.Contains(out, "Plan: 18 to create") {
		t.Errorf("%v: %v\n%s", arguments, err, out)
	}
}

// TestJSON checks that the format json is one value with the counts of the text.
func TestJSON(t *testing.T) {
	out, _ := plan(t, "", "-f", "testdata/default.yaml", "-o", "json")
	planned := result.Plan{}
	if err := json.Unmarshal([]byte(out), &planned); err != nil {
		t.Fatal(err)
	}
	if planned.Summary.Create == 0 || len(planned.Objects) == 0 {
		t.Errorf("the plan is empty: %+v", planned.Summary)
	}
}

// TestManyClusters plans ten clusters in the format json: messages about the progress are on the standard error, and there are at most as
// many as the plan takes seconds.
func TestManyClusters(t *testing.T) {
	raw, err := os.ReadFile("testdata/default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for i := range 10 {
		one := strings.ReplaceAll(string(raw), "c1", fmt.Sprintf("many-%d", i))
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), []byte(one), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	progress, began := &bytes.Buffer{}, time.Now()
	out, err := planWith(t, progress, "", "-f", folder, "-o", "json")
	if !errors.As(err, new(environment.FoundError)) {
		t.Fatal(err)
	}
	planned := result.Plan{}
	if err := json.Unmarshal([]byte(out), &planned); err != nil {
		t.Fatalf("the standard output is not one JSON value: %v", err)
	}
	clusters := 0
	for _, o := range planned.Objects {
		if o.Kind == "AzureCluster" && len(o.Changes) > 0 {
			clusters++
		}
	}
	lines := 0
	for line := range strings.Lines(progress.String()) {
		if lines++; !strings.HasPrefix(line, "planning: round ") {
			t.Errorf("the standard error has the line %q", line)
		}
	}
	if limit := int(time.Since(began).Seconds()); clusters != 10 || lines > limit {
		t.Errorf("%d clusters are planned, want 10; %d messages, want at most %d", clusters, lines, limit)
	}
}

// otherObjects have no part of a cluster: of the Deployment the plan knows nothing, and the others serve objects that do not exist.
const otherObjects = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureClusterIdentity
metadata: {name: a}
spec: {type: WorkloadIdentity, clientID: a, tenantID: a}
`

// TestErrors checks that invalid input ends with code 1 and that the message names the file, object or field.
func TestErrors(t *testing.T) {
	tests := map[string]struct {
		reason    string
		input     string
		arguments []string
		want      string
	}{
		"variable": {"a template is not a manifest", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${CLUSTER_NAME}\n", []string{"-f", "-"},
			"the variable ${CLUSTER_NAME} has no value"},
		"no kind": {"each object has a kind", "metadata:\n  name: a\n", []string{"-f", "-"}, "object 1 has no kind"},
		"refused": {"the refusal of the webhooks names the field",
			"apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureCluster\nmetadata:\n  name: c1\nspec:\n  location: eastus\n  networkSpec:\n    vnet:\n      cidrBlocks: [none]\n",
			[]string{"-f", "-"}, "AzureCluster default/c1"},
		"file":          {"a missing file is named", "", []string{"-f", "testdata/none.yaml"}, "testdata/none.yaml"},
		"empty file":    {"there is nothing to plan", "", []string{"-f", "-"}, "the manifests have no cluster of this provider"},
		"empty folder":  {"there is no manifest in it", "", []string{"-f", t.TempDir()}, "the manifests have no cluster of this provider"},
		"other objects": {"nothing in Azure depends on them", otherObjects, []string{"-f", "-"}, "the manifests have no cluster of this provider"},
		"cluster of manifests": {"a Cluster is selected in a management cluster", "", []string{"c1", "-f", "testdata/default.yaml"},
			"use -f only with --live"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := plan(t, test.input, test.arguments...)
			if err == nil || !strings.Contains(err.Error(), test.want) || environment.ExitCode(err) != environment.CodeError {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
		})
	}
}
