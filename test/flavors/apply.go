package flavors

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// installed is closed over by install: a test binary has one environment.
var installed struct {
	sync.Once
	err error
}

// InstallDefinitions adds the definitions of the kubeadm providers, and of HelmChartProxy, which manifests have beside ours.
func InstallDefinitions(t *testing.T, config *rest.Config) {
	t.Helper()
	installed.Do(func() {
		clusterAPI, err := harness.ModuleDir("sigs.k8s.io/cluster-api")
		if err != nil {
			installed.err = err
			return
		}
		installed.err = harness.InstallDefinitions(config,
			filepath.Join(clusterAPI, "bootstrap", "kubeadm", "config", "crd", "bases"),
			filepath.Join(clusterAPI, "controlplane", "kubeadm", "config", "crd", "bases"),
			filepath.Join(RepositoryRoot(t), "test", "flavors", "testdata", "crds"))
	})
	if installed.err != nil {
		t.Fatalf("definitions: %v", installed.err)
	}
}

// NewStage returns a stage with the definitions that manifests need.
func NewStage(t *testing.T, environment *harness.Environment) *harness.Stage {
	t.Helper()
	InstallDefinitions(t, environment.Config)
	return harness.NewStage(t, environment)
}

// SetNamespace moves the objects into the stage's namespace, as clusterctl does with --target-namespace, and gives an
// AzureClusterIdentity the service principal of the stage. Its secret is in no manifest: if the identity of the manifest refers to a Secret,
// SetNamespace creates this Secret, as users do; any other identity gets the Secret of CreateIdentities. Objects may be passed again: a
// topology returns the objects of its class.
func SetNamespace(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	for _, object := range objects {
		if isNamespaced(stage, object) {
			object.SetNamespace(stage.Namespace)
		}
		if object.GetKind() != "AzureClusterIdentity" || FieldString(object, "spec.clientSecret.namespace") == stage.Namespace {
			continue
		}
		secret := harness.IdentityName
		if name := FieldString(object, "spec.clientSecret.name"); name != "" &&
			FieldString(object, "spec.type") == string(infrav1.ServicePrincipal) {
			secret = name
			stage.CreateObject(&corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: secret},
				Data:       map[string][]byte{"clientSecret": []byte(stage.Azure.ClientSecret)},
			})
		}
		spec, _, _ := unstructured.NestedMap(object.Object, "spec")
		spec["type"], spec["tenantID"], spec["clientID"] = string(infrav1.ServicePrincipal), stage.Azure.TenantID, stage.Azure.ClientID
		spec["clientSecret"] = map[string]any{"name": secret, "namespace": stage.Namespace}
		object.Object["spec"] = spec
	}
}

func isNamespaced(stage *harness.Stage, object *unstructured.Unstructured) bool {
	is, err := stage.Client.IsObjectNamespaced(object)
	if err != nil {
		stage.T.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return is
}

// ApplyServerSide applies an object as `kubectl apply --server-side` does: fields that the API server does not know are refused. An object with
// null, which the API server refuses there, is created as `kubectl apply` creates it.
func ApplyServerSide(stage *harness.Stage, object *unstructured.Unstructured, options ...client.ApplyOption) error {
	ctx, cancel := context.WithTimeout(stage.T.Context(), harness.Patience)
	defer cancel()
	if hasNull(object.Object) {
		return client.WithFieldValidation(stage.Client, metav1.FieldValidationStrict).Create(ctx, object.DeepCopy())
	}
	options = append([]client.ApplyOption{client.FieldOwner(manifestOwner), client.ForceOwnership}, options...)
	return client.WithFieldValidation(stage.Client, metav1.FieldValidationStrict).
		Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), options...)
}

// mustApply is Apply that has to succeed.
func mustApply(stage *harness.Stage, object *unstructured.Unstructured) {
	stage.T.Helper()
	if err := ApplyServerSide(stage, object); err != nil {
		stage.T.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
	}
}

// FieldString returns the string at a path of fields, or "".
func FieldString(object *unstructured.Unstructured, path string) string {
	text, _, _ := unstructured.NestedString(object.Object, strings.Split(path, ".")...)
	return text
}
