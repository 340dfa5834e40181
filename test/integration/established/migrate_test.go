package established_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var update = flag.Bool("update", false, "rewrite golden files")

// installCluster installs the established provider with the clusters of testdata/cluster.yaml, and removes everything afterwards.
func installCluster(t *testing.T) {
	t.Helper()
	createNamespace(t, "capz-system")
	createNamespace(t, "team")
	former := formerObjects(t)
	installObjects(t, former)
	raw, err := os.ReadFile(filepath.Join("testdata", "cluster.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteAll(t, former) })
	applyManifest(t, string(raw))
	labelKinds(t)
}

// createObject creates an object and its status. The kind may have been defined a moment ago.
func createObject(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	status := object.Object["status"]
	created := object.DeepCopy()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
		err := api.client.Create(ctx, created)
		if apierrors.IsAlreadyExists(err) && object.GetKind() == "CustomResourceDefinition" {
			err = resetDefinition(ctx, object)
		}
		return !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err), client.IgnoreNotFound(ignoreNoMatch(err))
	})
	if err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
	if status != nil {
		created.Object["status"] = status
		storeInEtcd(t, created)
	}
}

// resetDefinition gives a definition of an earlier test its first form.
func resetDefinition(ctx context.Context, object *unstructured.Unstructured) error {
	stored := object.DeepCopy()
	if err := api.client.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
		return err
	}
	stored.Object["spec"] = object.DeepCopy().Object["spec"]
	return api.client.Update(ctx, stored)
}

// storeInEtcd stores an object past the API server, whose schema refuses the status of the established provider:
// https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
func storeInEtcd(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	object.SetResourceVersion("") // The API server takes it from etcd.
	value, err := json.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	gvk := object.GroupVersionKind()
	mapping, err := api.client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	key := strings.Join([]string{"/registry", gvk.Group, mapping.Resource.Resource, object.GetNamespace(), object.GetName()}, "/")
	body, err := json.Marshal(map[string]any{"key": []byte(key), "value": value, "prev_kv": true})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(api.etcd+"/v3/kv/put", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer["prev_kv"] == nil {
		t.Fatalf("%s was not stored before: %s, %v", key, response.Status, err)
	}
}

func ignoreNoMatch(err error) error {
	if meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

// removeObjects deletes objects without their finalizers. Definitions of kinds stay, because their deletion takes seconds.
func removeObjects(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	for i := len(objects) - 1; i >= 0; i-- {
		object := objects[i].DeepCopy()
		if object.GetKind() == "CustomResourceDefinition" {
			continue
		}
		if len(object.GetFinalizers()) > 0 {
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			if err := client.IgnoreNotFound(api.client.Patch(ctx, object.DeepCopy(), patch)); err != nil {
				t.Errorf("%s: %v", nameOf(object), err)
			}
		}
		if err := client.IgnoreNotFound(ignoreNoMatch(api.client.Delete(ctx, object))); err != nil {
			t.Errorf("%s: %v", nameOf(object), err)
		}
	}
}

// labelKinds gives the definitions of the provider the labels of clusterctl, and those of the contract of the established provider.
func labelKinds(t *testing.T) {
	t.Helper()
	patchKinds(t, `{"clusterctl.cluster.x-k8s.io":"","cluster.x-k8s.io/provider":"infrastructure-azure",
		"cluster.x-k8s.io/v1beta1":"v1beta1","cluster.x-k8s.io/v1beta2":null}`)
}

// patchKinds merges labels into those of the definitions of the provider.
func patchKinds(t *testing.T, labels string) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("apiextensions.k8s.io/v1")
	list.SetKind("CustomResourceDefinitionList")
	if err := api.client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"metadata":{"labels":` + labels + `}}`)
	for _, item := range list.Items {
		if group, _, _ := unstructured.NestedString(item.Object, "spec", "group"); group == "infrastructure.cluster.x-k8s.io" {
			if err := api.client.Patch(t.Context(), &item, client.RawPatch("application/merge-patch+json", patch)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runCapz runs a command of kubectl-capz.
func runCapz(t *testing.T, e *environment.Environment, arguments ...string) (string, error) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, api.kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	if e.RunProgram == nil {
		// clusterctl finds every release.
		e.RunProgram = func(_ context.Context, _ io.Writer, _ []string, _ string, arguments ...string) error {
			if arguments[0] != "generate" {
				return fmt.Errorf("unexpected call: clusterctl %v", arguments)
			}
			return nil
		}
	}
	root := cli.NewCommand(e)
	out := &bytes.Buffer{}
	root.SetOut(out)
	root.SetErr(t.Output())
	root.SetArgs(append(arguments, "--kubeconfig", kubeconfig))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestMigrateCheck compares the findings of a management cluster with a golden text, and checks that the check changes nothing.
func TestMigrateCheck(t *testing.T) {
	installCluster(t)
	misread := &unstructured.Unstructured{}
	misread.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	misread.SetKind("AzureMachine")
	if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "one-worker-b"}, misread); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(misread.Object, "..", "spec", "subnetName"); err != nil {
		t.Fatal(err)
	}
	storeInEtcd(t, misread)
	before := takeSnapshot(t)
	e := &environment.Environment{Version: "v2.0.0", Credential: unknown{}}
	out, err := runCapz(t, e, "migrate", "check")
	if !errors.As(err, new(environment.FoundError)) {
		t.Errorf("the check ends with %v, want the code for findings\n%s", err, out)
	}
	compareGolden(t, "check.txt", out)
	raw, err := runCapz(t, e, "migrate", "check", "--output", "json")
	report := &migration.Report{}
	if !errors.As(err, new(environment.FoundError)) || json.Unmarshal([]byte(raw), report) != nil || report.From != "v1.26.0" ||
		report.Count(migration.Blocks) == 0 {
		t.Errorf("%v: the report in JSON is %s", err, raw)
	}
	if diff := cmp.Diff(before, takeSnapshot(t)); diff != "" {
		t.Errorf("the check has changed objects (-before +after):\n%s", diff)
	}
}

// unknown is a credential that does not sign in.
type unknown struct{}

// GetToken implements azcore.TokenCredential.
func (unknown) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{}, errors.New("no credential of the user was found.\nRun az login")
}

// compareGolden compares a text with a file of testdata.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	golden := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// snapshotKinds are the kinds that a migration may change.
var snapshotKinds = []string{
	"apiextensions.k8s.io/v1 CustomResourceDefinition", "rbac.authorization.k8s.io/v1 ClusterRole",
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding", "admissionregistration.k8s.io/v1 MutatingWebhookConfiguration",
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", "apps/v1 Deployment", "v1 Secret", "v1 ConfigMap", "v1 ServiceAccount",
	"cluster.x-k8s.io/v1beta2 Cluster", "clusterctl.cluster.x-k8s.io/v1alpha3 Provider", "infrastructure.cluster.x-k8s.io/v1beta1 AzureCluster",
	"infrastructure.cluster.x-k8s.io/v1beta1 AzureMachine", "infrastructure.cluster.x-k8s.io/v1beta1 AzureClusterIdentity",
	"resources.azure.com/v1api20240901storage ResourceGroup", "storage.azure.com/v1api20240901storage StorageAccount",
}

// takeSnapshot returns all objects that a migration may change, without the fields that the API server changes with each write.
func takeSnapshot(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, kind := range snapshotKinds {
		list := &unstructured.UnstructuredList{}
		apiVersion, name, _ := bytes.Cut([]byte(kind), []byte(" "))
		list.SetAPIVersion(string(apiVersion))
		list.SetKind(string(name) + "List")
		if err := api.client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			for _, field := range []string{"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"} {
				unstructured.RemoveNestedField(item.Object, "metadata", field)
			}
			if item.GetKind() == "CustomResourceDefinition" || item.GetKind() == "Deployment" {
				delete(item.Object, "status")
			}
			out[item.GetKind()+" "+item.GetNamespace()+"/"+item.GetName()] = item.Object
		}
	}
	return out
}
