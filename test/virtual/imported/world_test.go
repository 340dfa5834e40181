package imported_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
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
		referToControlPlane(objects)
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
	return readManifests(t, documents.Bytes())
}

// referToControlPlane has the Cluster refer to its control plane, as Cluster API does for a Cluster of a class.
func referToControlPlane(objects []*unstructured.Unstructured) {
	for _, cluster := range objects {
		for _, o := range objects {
			if cluster.GetKind() == "Cluster" && o.GetKind() == "KubeadmControlPlane" {
				_ = unstructured.SetNestedStringMap(cluster.Object, map[string]string{"apiGroup": o.GroupVersionKind().Group, "kind": o.GetKind(),
					"name": o.GetName()}, "spec", "controlPlaneRef")
			}
		}
	}
}

// readManifests returns the objects of manifests.
func readManifests(t testing.TB, raw []byte) (out []client.Object) {
	t.Helper()
	documents, err := manifests.Files{Input: bytes.NewReader(raw)}.Read([]string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	scheme, err := kubernetes.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		object, err := manifests.ToObject(scheme, document)
		if err != nil {
			t.Fatal(err)
		}
		if object != nil {
			out = append(out, object)
		}
	}
	return out
}

// apply creates objects in the namespace of the stage, and has Cluster API played from then on.
func apply(s *virtual.Scenario, objects []client.Object) {
	s.T.Helper()
	admission, err := preview.NewAdmission(s.Kubernetes, s.Features)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, object := range objects {
		object.SetNamespace(s.Namespace)
		stored, err := admission.Admit(s.T.Context(), nil, object)
		if err == nil {
			err = s.Kubernetes.Create(s.T.Context(), stored)
		}
		if err != nil {
			s.T.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
	s.Meanwhile = func() {
		if err := clusterapi.PlayRound(context.Background(), s.Client); err != nil {
			s.T.Fatal(err)
		}
	}
}

// listOwn returns all objects of the kinds with resources in Azure.
func listOwn(s *virtual.Scenario) (out []harness.Conditioned) {
	s.T.Helper()
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{},
		&infrav1.AzureMachinePoolMachineList{}} {
		if err := s.Kubernetes.List(s.T.Context(), list, client.InNamespace(s.Namespace)); err != nil {
			s.T.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, item.(harness.Conditioned))
			return nil
		}); err != nil {
			s.T.Fatal(err)
		}
	}
	return out
}

// waitReady waits until all objects are Ready and no others come.
func waitReady(s *virtual.Scenario) {
	s.T.Helper()
	calm, before := 0, -1
	s.WaitUntil("all objects are Ready", func() bool {
		objects := listOwn(s)
		ready := !slices.ContainsFunc(objects, func(o harness.Conditioned) bool { return !harness.IsReady(o) })
		if calm++; !ready || len(objects) != before {
			calm, before = 0, len(objects)
		}
		return calm > 30
	}, func() string { return describeUnready(s) })
}

func describeUnready(s *virtual.Scenario) string {
	var out []string
	for _, object := range listOwn(s) {
		if !harness.IsReady(object) {
			out = append(out, fmt.Sprintf("%T %s: %+v", object, object.GetName(), harness.FindCondition(object, infrav1.ReadyCondition)))
		}
	}
	return strings.Join(out, "\n")
}

// build creates a cluster with a manager of this provider, which then stops.
func build(s *virtual.Scenario, objects []client.Object) {
	s.T.Helper()
	manager := s.StartProvider()
	apply(s, objects)
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

// takeOver applies manifests to another management cluster with a manager, and fails the test at a write to Azure.
func takeOver(s *virtual.Scenario, got imported) *virtual.Scenario {
	s.T.Helper()
	requireAdopted(s.T, readManifestsWhole(s.T, got.Manifests))
	other := s.NewManagementCluster()
	other.CreateIdentity()
	apply(other, readManifests(s.T, []byte(got.Manifests)))
	var writes []string
	other.WrittenBody = func(request *http.Request, _ int, body []byte) {
		writes = append(writes, fmt.Sprintf("%s %s %s", request.Method, request.URL.Path, body))
	}
	s.WrittenBody = other.WrittenBody // Both have one transport.
	other.StartProvider()
	virtual.WaitForSignal(nil, time.Minute)
	for _, object := range listOwn(other) {
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
