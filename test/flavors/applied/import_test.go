package applied_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	clienvironment "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	azureidentity "sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// ownKinds are the kinds of a self-managed cluster, in the order to forget them.
func ownKinds() []client.ObjectList {
	controlPlanes := &unstructured.UnstructuredList{}
	controlPlanes.SetGroupVersionKind(kubernetes.ControlPlaneKind.GroupVersion().WithKind(kubernetes.ControlPlaneKind.Kind + "List"))
	return []client.ObjectList{&clusterv1.ClusterList{}, &clusterv1.MachineDeploymentList{}, &clusterv1.MachineList{}, &clusterv1.MachinePoolList{},
		&infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachineTemplateList{},
		&infrav1.AzureClusterList{}, controlPlanes}
}

// eachObject calls do with each object of the stage's namespace.
func eachObject(stage *harness.Stage, list client.ObjectList, do func(client.Object) error) {
	stage.T.Helper()
	if err := stage.Client.List(stage.T.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
		stage.T.Fatal(err)
	}
	if err := meta.EachListItem(list, func(item runtime.Object) error { return do(item.(client.Object)) }); err != nil {
		stage.T.Fatal(err)
	}
}

// forget removes the objects of a cluster without its resources in Azure.
func forget(stage *harness.Stage) {
	stage.T.Helper()
	for _, list := range ownKinds() {
		eachObject(stage, list, func(o client.Object) error {
			before := o.DeepCopyObject().(client.Object)
			o.SetFinalizers(nil)
			if err := stage.Client.Patch(stage.T.Context(), o, client.MergeFrom(before)); err != nil {
				return client.IgnoreNotFound(err)
			}
			return client.IgnoreNotFound(stage.Client.Delete(stage.T.Context(), o))
		})
	}
}

// TestImport imports a cluster with machines and pools whose objects are gone: its manifests are applied with kubectl to a real API server,
// each printed command is run, and the manager writes nothing to Azure.
func TestImport(t *testing.T) {
	t.Parallel()
	stage := flavors.NewStage(t, environment)
	flavors.CreateIdentities(stage)
	objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, "cluster-template-machinepool.yaml", flavors.TemplateVariables(nil)))
	if err != nil {
		t.Fatal(err)
	}
	options := harness.ManagerOptions{SyncPeriod: harness.SyncPeriod}
	maker := stage.StartManager(options)
	flavors.BringUp(stage, objects)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	stage.Meanwhile = nil
	forget(stage)

	root := cli.NewCommand(&clienvironment.Environment{Version: "test", Transport: stage.Azure.HTTP, Credential: userCredential{stage.Azure},
		Identity: azureidentity.Options{ResourceManagerEndpoint: stage.Azure.URL, ResourceManagerAudience: "https://management.core.windows.net/",
			AuthorityHost: stage.Azure.URL}})
	out, messages := &bytes.Buffer{}, &bytes.Buffer{}
	root.SetOut(out)
	root.SetErr(messages)
	root.SetArgs([]string{"import", "--namespace", stage.Namespace, "--subscription", stage.Azure.SubscriptionID, "--cluster", "c1",
		"--identity", "cluster-identity", "--output", "json"})
	mark := stage.Azure.MarkRequests()
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v\n%s%s", err, out, messages)
	}
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("import wrote to Azure: %q", writes)
	}
	var imported struct {
		Manifests string
		Tags      []importing.TagChange
		Steps     []importing.Step
	}
	if err := json.Unmarshal(out.Bytes(), &imported); err != nil {
		t.Fatal(err)
	}
	for _, tag := range imported.Tags {
		path := strings.TrimPrefix(string(tag.Resource), "/subscriptions/"+stage.Azure.SubscriptionID+"/")
		body, err := json.Marshal(map[string]any{"operation": "Merge", "properties": map[string]any{"tags": tag.Tags}})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := stage.Azure.SendRequest(http.MethodPatch, path+"/providers/Microsoft.Resources/tags/default", "2021-04-01", body); status > 299 {
			t.Fatalf("set tags of %s: %d %s", tag.Resource, status, answer)
		}
	}
	mark = stage.Azure.MarkRequests()
	manager := stage.StartManager(options)
	runSteps(t, stage, imported.Manifests, imported.Steps)
	// The API server has the clusters of other tests, too.
	own := client.NewNamespacedClient(stage.Client, stage.Namespace)
	stage.Meanwhile = func() {
		if err := clusterapi.PlayRound(context.Background(), own); err != nil {
			t.Logf("play Cluster API: %v", err) // A conflict with the manager is repeated.
		}
	}
	stage.Eventually("all imported objects are Ready", func() bool {
		stage.Meanwhile()
		ready := 0
		for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}} {
			eachObject(stage, list, func(o client.Object) error {
				if harness.IsReady(o.(harness.Conditioned)) {
					ready++
				}
				return nil
			})
		}
		return ready == 3 // The cluster, its control-plane machine and its pool.
	})
	flavors.CheckQuiet(stage, manager, 2)
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("the manager wrote to Azure: %q", writes)
	}
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	stage.ReadObject(cluster, "c1")
	if cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		t.Error("the last step does not start the Cluster")
	}
	controlPlane := &unstructured.Unstructured{}
	controlPlane.SetGroupVersionKind(kubernetes.ControlPlaneKind)
	stage.ReadObject(controlPlane, "c1-control-plane")
	if version, _, _ := unstructured.NestedString(controlPlane.Object, "spec", "version"); version == "" {
		t.Errorf("the KubeadmControlPlane has no version: %v", controlPlane.Object["spec"])
	}
}

// runSteps runs the commands of the steps for the management cluster in a folder with the files that they name.
func runSteps(t *testing.T, stage *harness.Stage, manifests string, steps []importing.Step) {
	t.Helper()
	folder := t.TempDir()
	kubeconfig := stage.Environment.WriteKubeconfig(t, folder)
	files := map[string]string{"manifests.yaml": manifests, "admin.conf": "kubeconfig", "join.yaml": "#cloud-config"}
	for _, name := range []string{"ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"} {
		files["pki/"+name] = name
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, step := range steps {
		for _, command := range step.Commands {
			if !strings.HasPrefix(command, "kubectl ") || strings.Contains(command, "--kubeconfig admin.conf") {
				continue // az sets tags, and the workload cluster does not run.
			}
			run := exec.CommandContext(t.Context(), "bash", "-c", command)
			run.Dir = folder
			run.Env = []string{"KUBECONFIG=" + kubeconfig, "PATH=" + filepath.Join(flavors.RepositoryRoot(t), "bin") + ":/usr/bin:/bin", "HOME=" + folder}
			if output, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", command, err, output)
			}
			ran++
		}
	}
	if ran < 10 || !slices.ContainsFunc(steps, func(s importing.Step) bool { return strings.Contains(s.Why, "paused") }) {
		t.Errorf("%d commands of steps were run", ran)
	}
}

// userCredential signs in to the simulated Azure as a user.
type userCredential struct{ *harness.Simulator }

// GetToken implements azcore.TokenCredential.
func (c userCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.UserToken(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}
