package established_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// labels are those that clusterctl gives every object of the provider.
var labels = map[string]string{"clusterctl.cluster.x-k8s.io": "", "cluster.x-k8s.io/provider": "infrastructure-azure"}

// formerObjects returns those of an installation of the established provider.
func formerObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "installation.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return decodeObjects(t, raw)
}

// rendered has the objects of the release. All tests share them, because to render them takes a second of processor time.
var rendered struct {
	sync.Mutex
	objects []*unstructured.Unstructured
}

// releasedObjects returns the objects of the release, without those that need other servers: kinds are installed already, and
// cert-manager is not. The caller may change them.
func releasedObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	rendered.Lock()
	defer rendered.Unlock()
	if rendered.objects == nil {
		rendered.objects = renderRelease(t)
	}
	objects := make([]*unstructured.Unstructured, 0, len(rendered.objects))
	for _, object := range rendered.objects {
		objects = append(objects, object.DeepCopy())
	}
	return objects
}

func renderRelease(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	manifest := filepath.Join(t.TempDir(), "components.yaml")
	if err := os.WriteFile(manifest, flavors.RunProgram(t, nil, "kustomize", "build", filepath.Join("config", "default")), 0o600); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(decodeObjects(t, flavors.RunProgram(t, nil, "clusterctl", "generate", "yaml", "--from", manifest)),
		func(o *unstructured.Unstructured) bool {
			return slices.Contains([]string{"CustomResourceDefinition", "Certificate", "Issuer", "Namespace"}, o.GetKind())
		})
}

// decodeObjects reads objects and gives them the labels, as clusterctl does. It also converts bindings into types and back, which drops
// empty lists.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/cmd/clusterctl/client/repository/components.go#L350
func decodeObjects(t *testing.T, raw []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := flavors.DecodeManifest(raw)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		all := maps.Clone(labels)
		maps.Copy(all, object.GetLabels())
		object.SetLabels(all)
		var typed runtime.Object
		switch object.GetKind() {
		case "ClusterRoleBinding":
			typed = &rbacv1.ClusterRoleBinding{}
		case "RoleBinding":
			typed = &rbacv1.RoleBinding{}
		default:
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
			t.Fatal(err)
		}
		if object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
			t.Fatal(err)
		}
	}
	return objects
}

// deletesOnUpgrade reports whether clusterctl deletes an object of the provider when it upgrades.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/cmd/clusterctl/client/cluster/components.go#L156-L201
func deletesOnUpgrade(object *unstructured.Unstructured) bool {
	switch object.GetKind() {
	case "CustomResourceDefinition", "Namespace":
		return false
	case "ClusterRole", "ClusterRoleBinding":
		return strings.HasPrefix(object.GetName(), "capz-system-")
	}
	return true
}

// upgradeObjects changes the objects of an installation to those of the release, as `clusterctl upgrade apply` does.
func upgradeObjects(t *testing.T, installed, released []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range installed {
		if deletesOnUpgrade(object) {
			if err := client.IgnoreNotFound(api.client.Delete(t.Context(), object.DeepCopy())); err != nil {
				t.Fatal(err)
			}
		}
	}
	installObjects(t, released)
}

// installObjects creates objects, or merges them into existing ones.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/cmd/clusterctl/client/cluster/components.go#L97-L137
func installObjects(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		err := api.client.Create(t.Context(), object.DeepCopy())
		if apierrors.IsAlreadyExists(err) {
			raw, failure := json.Marshal(object)
			if failure != nil {
				t.Fatal(failure)
			}
			err = api.client.Patch(t.Context(), object.DeepCopy(), client.RawPatch("application/merge-patch+json", raw))
		}
		if err != nil {
			t.Fatalf("%s: %v", nameOf(object), err)
		}
	}
}

// deleteAll deletes objects.
func deleteAll(t *testing.T, objects ...[]*unstructured.Unstructured) {
	t.Helper()
	for _, object := range slices.Concat(objects...) {
		// Cleanups run when the test's own context has ended.
		if err := client.IgnoreNotFound(api.client.Delete(context.WithoutCancel(t.Context()), object.DeepCopy(),
			client.PropagationPolicy(metav1.DeletePropagationBackground))); err != nil {
			t.Fatal(err)
		}
	}
}

// nameOf is "Kind name".
func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetName()
}
