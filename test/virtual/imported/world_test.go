package imported_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// play plays a story with an Azure whose operations end at once and an API server that admits objects.
func play(t *testing.T, features plan.Features, story func(s *virtual.Scenario)) {
	t.Helper()
	virtual.PlayWith(t, virtual.Options{AtOnce: true, Complete: true, Features: features, Azure: server.Options{Seed: 7,
		Locations: []string{"eastus", "westus", "northcentralus"}, Throttle: harness.Unlimited}}, func(s *virtual.Scenario) {
		flavors.CreateIdentities(s.Stage)
		s.CreateObject(s.NewIdentity())
		story(s)
	})
}

// renderFlavor returns the objects of a template that the API server in memory knows.
func renderFlavor(t *testing.T, file string, more map[string]string, change func([]*unstructured.Unstructured)) []client.Object {
	t.Helper()
	variables := map[string]string{"CLUSTER_IDENTITY_NAME": harness.IdentityName}
	maps.Copy(variables, more)
	objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, file, flavors.TemplateVariables(variables)))
	if err != nil {
		t.Fatal(err)
	}
	if name, is := strings.CutSuffix(file, "topology.yaml"); is {
		class, err := flavors.DecodeManifest(flavors.RenderTemplate(t, name+"clusterclass.yaml", flavors.TemplateVariables(variables)))
		if err != nil {
			t.Fatal(err)
		}
		if objects, err = flavors.ApplyTopology(class, objects); err != nil {
			t.Fatal(err)
		}
		flavors.ReferToControlPlane(objects)
	}
	if change != nil {
		change(objects)
	}
	var documents bytes.Buffer
	for _, object := range objects {
		if object.GetKind() == "AzureClusterIdentity" {
			continue // The stage has it.
		}
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&documents, "---\n%s\n", raw)
	}
	return virtual.ReadManifests(t, documents.Bytes())
}

// waitReady waits until all objects are Ready and no others come.
func waitReady(s *virtual.Scenario) {
	s.T.Helper()
	s.WaitAllReady()
}

// build creates a cluster with a manager of this provider, which then stops.
func build(s *virtual.Scenario, objects []client.Object) {
	s.T.Helper()
	manager := s.StartProvider()
	s.ApplyManifests(objects)
	waitReady(s)
	manager.StopManager()
	s.Meanwhile = nil
}

// imported is the output of the verb.
type imported struct {
	Manifests string
	Steps     []importing.Step
	Tags      []importing.TagChange
	Findings  []importing.Finding
	Check     result.Plan
	// found is true if the exit code is that of findings.
	found bool
}

// runImport runs the verb in the format text, and returns its standard output and error.
func runImport(s *virtual.Scenario, arguments ...string) (out, messages string, err error) {
	s.T.Helper()
	return runImportWith(s, readingOnly{s}, arguments...)
}

// runImportWith is runImport with a transport.
func runImportWith(s *virtual.Scenario, transport policy.Transporter, arguments ...string) (out, messages string, err error) {
	s.T.Helper()
	e := &environment.Environment{Version: "test", Credential: virtual.UserTransport{Scenario: s}, Transport: transport,
		OpenFile: func(name string) (io.ReadCloser, error) { return os.Open(name) }, OpenFolder: func(string) (fs.FS, bool) { return nil, false },
		Identity: identity.Options{ResourceManagerEndpoint: harness.VirtualEndpoint, ResourceManagerAudience: "https://management.core.windows.net/"}}
	verb := command.NewCommand(e)
	e.AddFlags(verb.Flags())
	verb.SilenceUsage, verb.SilenceErrors = true, true
	var stdout, stderr bytes.Buffer
	verb.SetOut(&stdout)
	verb.SetErr(&stderr)
	verb.SetArgs(append([]string{"--subscription", s.Azure.SubscriptionID, "--namespace", s.Namespace, "--identity", harness.IdentityName}, arguments...))
	err = verb.ExecuteContext(s.T.Context())
	return stdout.String(), stderr.String(), err
}

// mustImport runs the verb in the format json.
func mustImport(s *virtual.Scenario, arguments ...string) imported {
	s.T.Helper()
	out, messages, err := runImport(s, append(arguments, "--output", "json")...)
	found := errors.As(err, new(environment.FoundError))
	if err != nil && !found {
		s.T.Fatalf("%v\n%s", err, messages)
	}
	got := imported{found: found}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		s.T.Fatalf("%v: %s", err, out)
	}
	return got
}

// readingOnly is a transport of the verb, which fails the test at a request that is not a GET.
type readingOnly struct{ s *virtual.Scenario }

// Do implements policy.Transporter.
func (r readingOnly) Do(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet {
		r.s.T.Errorf("import sends %s %s", request.Method, request.URL.Path)
	}
	return virtual.UserTransport{Scenario: r.s}.Do(request)
}

// setTags runs the commands of a step about tags.
func setTags(s *virtual.Scenario, changes []importing.TagChange) {
	s.T.Helper()
	for _, change := range changes {
		path := strings.TrimPrefix(string(change.Resource), "/subscriptions/"+s.Azure.SubscriptionID+"/")
		if status, answer := s.SendAsUser(http.MethodPatch, path+"/providers/Microsoft.Resources/tags/default", "2021-04-01",
			map[string]any{"operation": "Merge", "properties": map[string]any{"tags": change.Tags}}); status > 299 {
			s.T.Fatalf("set tags of %s: %d %s", change.Resource, status, answer)
		}
	}
}

// applyImport applies manifests to another management cluster with a manager, and fails the test at a write to Azure.
func applyImport(s *virtual.Scenario, got imported) *virtual.Scenario {
	s.T.Helper()
	requireAdopted(s.T, readManifestsWhole(s.T, got.Manifests))
	other := s.NewManagementCluster()
	other.CreateIdentity()
	other.ApplyManifests(virtual.ReadManifests(s.T, []byte(got.Manifests)))
	var writes []string
	other.WrittenBody = func(request *http.Request, _ int, body []byte) {
		writes = append(writes, fmt.Sprintf("%s %s %s", request.Method, request.URL.Path, body))
	}
	s.WrittenBody = other.WrittenBody // Both have one transport.
	other.StartProvider()
	virtual.WaitForSignal(nil, time.Minute)
	for _, object := range other.ListAzureObjects() {
		if harness.IsReady(object) {
			s.T.Errorf("%T %s is Ready before the Cluster is started", object, object.GetName())
		}
	}
	clusters := &clusterv1.ClusterList{}
	if err := other.Kubernetes.List(s.T.Context(), clusters); err != nil {
		s.T.Fatal(err)
	}
	for i := range clusters.Items {
		harness.ChangeObject(other.Stage, &clusters.Items[i], func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
	}
	waitReady(other)
	virtual.WaitForSignal(nil, 3*time.Hour) // Full syncs happen meanwhile.
	waitReady(other)
	if len(writes) > 0 {
		s.T.Errorf("%d writes to Azure:\n%s", len(writes), strings.Join(writes, "\n"))
	}
	s.WrittenBody, other.WrittenBody = nil, nil
	return other
}

// dump writes an import to a folder, for people.
func dump(t *testing.T, name string, got imported) {
	t.Helper()
	folder := os.Getenv("IMPORT_DUMP")
	if folder == "" {
		return
	}
	raw, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(folder+"/"+name+".yaml", []byte(got.Manifests), 0o600)
	_ = os.WriteFile(folder+"/"+name+".json", raw, 0o600)
}

func mustMarshal(t testing.TB, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
