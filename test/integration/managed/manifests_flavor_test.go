package managed_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// renderFlavor renders a flavor of documents.
func renderFlavor(t *testing.T, template string) string {
	t.Helper()
	return string(flavors.RenderTemplate(t, template, map[string]string{
		"CLUSTER_NAME": "c1", "KUBERNETES_VERSION": harness.ManagedVersion, "AZURE_LOCATION": "eastus",
		"AZURE_NODE_MACHINE_TYPE":    "Standard_D2s_v3",
		"ASO_CREDENTIAL_SECRET_NAME": harness.OperatorSecret,
	}))
}

// TestManifestFlavors takes the flavor with maintenance windows to its end state. Without these it is the flavor aks-aso.
func TestManifestFlavors(t *testing.T) {
	t.Parallel()
	manifest := renderFlavor(t, "cluster-template-aks-aso-maintenance.yaml")
	windows := regexp.MustCompile(`(?s)  - apiVersion: [^\n]*\n    kind: MaintenanceConfiguration\n.*?\n(  version|  - api)`)
	for windows.MatchString(manifest) {
		manifest = windows.ReplaceAllString(manifest, "$1")
	}
	if diff := cmp.Diff(renderFlavor(t, "cluster-template-aks-aso.yaml"), manifest); diff != "" {
		t.Errorf("aks-aso is aks-aso-maintenance without the windows (-aks-aso +maintenance):\n%s", diff)
	}
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	applyManifest(stage, renderFlavor(t, "cluster-template-aks-aso-maintenance.yaml"))
	cluster := stage.PlayManifests("c1", "c1-pool0", "c1-pool1")
	harness.WaitFor(stage, cluster.ControlPlane, "c1", "with a message about the missing object",
		func(o *infrav1.AzureASOManagedControlPlane) bool {
			return strings.Contains(harness.FindCondition(o, infrav1.ResourcesReadyCondition).Message, "AzureASOManagedCluster") ||
				harness.FindCondition(o, infrav1.ReadyCondition).Reason == "SecretNotFound"
		})
	stage.CreateOperatorSecret(harness.OperatorSecret)
	stage.WaitManifestsReady(cluster)
	followConfigMap(stage)
	followPlain(stage)
	stage.DeleteManifests(cluster)
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// followConfigMap adds a document to the Cluster that takes a value from a ConfigMap, which comes and changes later. Nothing is looked
// at again by itself for as long as the stage lasts.
func followConfigMap(stage *harness.Stage) {
	stage.T.Helper()
	identity, trust := stage.ParseManifest(identityDocument), stage.ParseManifest(`
apiVersion: managedidentity.azure.com/v20241130
kind: FederatedIdentityCredential
metadata:
  name: trust
spec:
  owner: {name: nodes}
  audiences: [api://AzureADTokenExchange]
  subject: system:serviceaccount:default:app
  issuerFromConfig: {name: issuer, key: url}
`)
	infrastructure := &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	harness.ChangeObject(stage, infrastructure,
		func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = append(o.Spec.Resources, identity, trust) })
	harness.WaitFor(stage, infrastructure, "c1", "with a message about the ConfigMap", func(o *infrav1.AzureASOManagedCluster) bool {
		return len(o.Status.Resources) == 3 && o.Status.Resources[1].Ready &&
			strings.Contains(o.Status.Resources[2].Message, `of ConfigMap "issuer"`)
	})
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "issuer"},
		Data: map[string]string{"url": "https://one.example"}}
	stage.CreateObject(configMap)
	for _, next := range []string{"https://two.example", ""} {
		value := configMap.Data["url"]
		stage.Eventually("Azure has the value of the ConfigMap", func() bool {
			return readValue(stage, identityPath+"/federatedIdentityCredentials/trust", msiVersion, "properties.issuer") == `"`+value+`"`
		})
		if next != "" {
			harness.ChangeObject(stage, configMap, func(o *corev1.ConfigMap) { o.Data["url"] = next })
		}
	}
	harness.WaitFor(stage, infrastructure, "c1", "ready",
		func(o *infrav1.AzureASOManagedCluster) bool { return o.Status.Resources[2].Ready && harness.IsReady(o) })
}

// TestManifestBook takes the cluster of the page about documents to its end state.
func TestManifestBook(t *testing.T) {
	t.Parallel()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "book", "aks", "resource-manifests.md"))
	if err != nil {
		t.Fatal(err)
	}
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateOperatorSecret("aso-credential")
	for block := range strings.SplitSeq(string(page), "```yaml\n") {
		if manifest, _, ok := strings.Cut(block, "\n```"); ok && strings.HasPrefix(block, "apiVersion") {
			applyManifest(stage, manifest)
		}
	}
	cluster := stage.PlayManifests("my-cluster", "my-cluster-pool0")
	stage.WaitManifestsReady(cluster)
	for name, key := range map[string]string{"my-cluster-workload": "clientId", "my-cluster-issuer": "url"} {
		stage.Eventually("ConfigMap "+name, func() bool {
			configMap := &corev1.ConfigMap{}
			return stage.Client.Get(t.Context(), client.ObjectKey{Namespace: stage.Namespace, Name: name}, configMap) == nil &&
				configMap.Data[key] != ""
		})
	}
	harness.WaitFor(stage, &clusterv1.MachinePool{}, "my-cluster-pool0", "scaled by AKS", func(o *clusterv1.MachinePool) bool {
		return o.Annotations[clusterv1.ReplicasManagedByAnnotation] == "aks"
	})
	stage.DeleteManifests(cluster)
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// applyManifest creates the objects of a manifest in the namespace of the stage.
func applyManifest(stage *harness.Stage, manifest string) {
	stage.T.Helper()
	objects, err := flavors.DecodeManifest([]byte(manifest))
	if err != nil {
		stage.T.Fatal(err)
	}
	for _, object := range objects {
		object.SetNamespace(stage.Namespace)
		stage.CreateObject(object)
	}
}
