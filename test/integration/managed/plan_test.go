package managed_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	clienvironment "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	azureidentity "sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestPlanCommandReadsTheManagementCluster runs kubectl capz plan against a real API server and a simulated Azure: a cluster in order has no
// changes, a changed manifest has exactly one, and nothing is written to either.
func TestPlanCommandReadsTheManagementCluster(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	stored := &infrav1.AzureManagedControlPlane{}
	stage.ReadObject(stored, "c1")

	changed := &infrav1.AzureManagedControlPlane{ObjectMeta: stored.ObjectMeta, Spec: *stored.Spec.DeepCopy()}
	changed.SetGroupVersionKind(infrav1.GroupVersion.WithKind("AzureManagedControlPlane"))
	changed.ManagedFields = nil
	changed.Spec.AdditionalTags = infrav1.Tags{"team": "blue"}
	manifest, err := yaml.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, "c1.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	kubeconfig := stage.Environment.WriteKubeconfig(t, folder)
	type row struct {
		reason    string
		arguments []string
		code      int
		want      []string
	}
	check := func(name string, test row) {
		t.Helper()
		mark := stage.Azure.MarkRequests()
		root := cli.NewCommand(&clienvironment.Environment{Version: "test", Transport: stage.Azure.HTTP, Credential: userCredential{stage.Azure},
			OpenFile:   func(name string) (io.ReadCloser, error) { return os.Open(name) },
			OpenFolder: func(string) (fs.FS, bool) { return nil, false },
			Identity: azureidentity.Options{ResourceManagerEndpoint: stage.Azure.URL, ResourceManagerAudience: "https://management.core.windows.net/",
				AuthorityHost: stage.Azure.URL}})
		out, messages := &bytes.Buffer{}, &bytes.Buffer{}
		root.SetOut(out)
		root.SetErr(messages)
		root.SetArgs(append([]string{"--namespace", stage.Namespace, "--kubeconfig", kubeconfig}, test.arguments...))
		err := root.ExecuteContext(t.Context())
		if got := clienvironment.ExitCode(err); got != test.code {
			t.Errorf("%s: %s: exit code %d, want %d: %v\n%s%s", name, test.reason, got, test.code, err, out, messages)
		}
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %s: the output does not contain %q:\n%s", name, test.reason, want, out)
			}
		}
		if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("%s: the plan wrote to Azure: %v", name, writes)
		}
	}
	commands := map[string]row{
		"no cluster": {"a name without a Cluster is an error", []string{"plan", "c2"}, clienvironment.CodeError, nil},
		"no object":  {"a misspelt namespace is not without changes", []string{"plan", "-n", "misspelt"}, clienvironment.CodeError, nil},
	}
	for _, arguments := range planCommands(t, stage.Namespace, file) {
		of := row{"the manager would write nothing", arguments, clienvironment.CodeDone, []string{"No changes"}}
		if slices.Contains(arguments, "--live") {
			of = row{"the tag is added to the cluster's resources, and Azure refuses nothing", arguments, clienvironment.CodeFound,
				[]string{"managedClusters/c1", "team", "blue", " to delete.\n"}}
		}
		commands[strings.Join(arguments, " ")] = of
	}
	if len(commands) != 5 {
		t.Fatalf("the page has %d commands for one namespace of a management cluster, want 3: %v", len(commands)-2, commands)
	}
	for name, test := range commands {
		check(name, test)
	}
	after := &infrav1.AzureManagedControlPlane{}
	stage.ReadObject(after, "c1")
	if diff := cmp.Diff(stored.ResourceVersion, after.ResourceVersion); diff != "" {
		t.Errorf("the plan changed the object (-before +after):\n%s", diff)
	}

	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	former := []client.Object{&infrav1.AzureManagedCluster{}, &infrav1.AzureManagedControlPlane{}, &infrav1.AzureManagedMachinePool{},
		&infrav1.AzureManagedMachinePool{}}
	for i, name := range []string{"c1", "c1", "c1-pool0", "c1-pool1"} {
		stage.ReadObject(former[i], name)
		delete(former[i].GetAnnotations(), infrav1.AppliedAnnotation)
		if err := stage.Client.Update(t.Context(), former[i]); err != nil {
			t.Fatal(err)
		}
	}
	check("established", row{"objects without records of this provider, as CAPZ leaves them, are migrated without a write",
		[]string{"plan"}, clienvironment.CodeDone, []string{"No changes"}})
}

// planCommands returns the arguments of the commands of docs/book/plan.md that need a management cluster, with a namespace and a file. That of
// all namespaces is left out: clusters of other tests are in the same management cluster, and in another Azure. test/planned reads all namespaces.
func planCommands(t *testing.T, namespace, file string) (out [][]string) {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/book/plan.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		words, is := strings.CutPrefix(line, "kubectl capz ")
		offline := strings.Contains(words, "-f ") && !strings.Contains(words, "--live")
		if !is || offline || strings.Contains(words, "--all-namespaces") {
			continue
		}
		arguments := strings.Fields(words)
		for i, word := range arguments {
			switch word {
			case "team-a":
				arguments[i] = namespace
			case "c1.yaml":
				arguments[i] = file
			}
		}
		out = append(out, arguments)
	}
	return out
}
