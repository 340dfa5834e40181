package deployment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// namespace is where the manifests install the manager.
const namespace = "capz-system"

// installed are the objects of config/default as clusterctl makes them without variables, once they are in the API server.
type installed []*unstructured.Unstructured

var (
	installing sync.Mutex
	kept       installed
)

// installManifests applies the manifests. Definitions of kinds and webhooks are the harness's, and this API server does not serve
// cert-manager's kinds.
func installManifests(t *testing.T) installed {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	if kept != nil {
		return kept
	}
	objects := buildComponents(t)
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return slices.Contains([]string{"CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
			"Certificate", "Issuer"}, o.GetKind())
	})
	for _, object := range objects {
		if err := environment.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()),
			client.FieldOwner("test")); err != nil {
			t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
	kept = objects
	return kept
}

// buildComponents returns the objects of config/default as clusterctl makes them without variables.
func buildComponents(t *testing.T) installed {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "components.yaml")
	if err := os.WriteFile(manifest, flavors.RunProgram(t, nil, "kustomize", "build", filepath.Join("config", "default")), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := flavors.DecodeManifest(flavors.RunProgram(t, nil, "clusterctl", "generate", "yaml", "--from", manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// readOnlyObject puts the only object of a kind into object.
func readOnlyObject[T client.Object](t *testing.T, objects installed, kind string, object T) T {
	t.Helper()
	of := slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetKind() != kind })
	if len(of) != 1 {
		t.Fatalf("%d objects of kind %s are installed, want 1", len(of), kind)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(of[0].Object, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// readDeployment returns the manager's.
func readDeployment(t *testing.T, objects installed) *appsv1.Deployment {
	t.Helper()
	return readOnlyObject(t, objects, "Deployment", &appsv1.Deployment{})
}

// requestToken returns one that the API server gives for a ServiceAccount.
func requestToken(t *testing.T, in, name string, audiences ...string) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: name}}
	if err := environment.Client.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatalf("token of %s/%s: %v", in, name, err)
	}
	return request.Status.Token
}

// startPod runs a manager as a pod of the Deployment does, without the settings that only a kubelet can give: addresses, certificates,
// the way to Azure, and the namespace of the lease, which a pod reads from a file.
func startPod(stage *harness.Stage, t *testing.T, binary string, more ...string) *harness.Program {
	t.Helper()
	return startWithFiles(stage, t, binary, nil, more...)
}

// startWithFiles is start with further files beside the certificate of the webhooks.
func startWithFiles(stage *harness.Stage, t *testing.T, binary string, files map[string][]byte, more ...string) *harness.Program {
	t.Helper()
	spec := readDeployment(t, installManifests(t)).Spec.Template.Spec
	container := spec.Containers[0]
	var variables []string
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			variables = append(variables, variable.Name+"="+variable.Value)
		}
	}
	arguments := append(slices.Clone(container.Args), "--leader-election-namespace="+namespace)
	p := stage.StartProgram(harness.ProgramOptions{
		Binary: binary, Arguments: append(arguments, more...), Environment: variables, Token: requestToken(t, namespace, spec.ServiceAccountName),
		Files: files,
	})
	stage.Eventually("the manager is ready", func() bool { return answersOK("http://" + p.Health + "/readyz") })
	waitListening(stage, p.Diagnostics)
	return p
}

// isLeader reports whether a manager has become the leader.
func isLeader(p *harness.Program) bool {
	return strings.Contains(p.ReadLog(), "Successfully acquired lease")
}
