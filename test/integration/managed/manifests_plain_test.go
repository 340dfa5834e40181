package managed_test

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// plainManifest is a manifest of a kind of Kubernetes.
const plainManifest = `
apiVersion: plain.example.com/v1
kind: KIND
metadata:
    infrastructure.cluster.x-k8s.io/plain-object: "true"
  name: NAME
spec:
  size: 1
`

// followPlain adds manifests of Kubernetes kinds. They become objects in the namespace of their owner if the manager has the rights
// there, and are deleted with their manifest.
func followPlain(stage *harness.Stage) {
	t := stage.T
	t.Helper()
	infrastructure := &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	stage.ReadObject(infrastructure, "c1")
	before := len(infrastructure.Spec.Resources)
	manifest := func(kind, name string) string {
		return strings.NewReplacer("KIND", kind, "NAME", name).Replace(plainManifest)
	}
	harness.ChangeObject(stage, infrastructure, func(o *infrav1.AzureASOManagedCluster) {
		for _, text := range []string{manifest("Widget", "w"), manifest("Widget", "theirs"), manifest("Realm", "r")} {
			o.Spec.Resources = append(o.Spec.Resources, stage.ParseManifest(text))
		}
	})
	// Nothing tells the manager of definitions, rights and objects of kinds that it may not watch, so it is woken to look.
	until := func(what string, so func() bool) {
		t.Helper()
		var woken time.Time
		stage.Eventually(what, func() bool {
			if time.Since(woken) > time.Second {
				stage.WakeControllers(infrastructure)
				woken = time.Now()
			}
			stage.ReadObject(infrastructure, "c1")
			return so()
		})
	}
	says := func(what string, at int, message string) {
		t.Helper()
		until(what, func() bool {
			resources := infrastructure.Status.Resources
			return len(resources) > before+at && resources[before+at].Ready == (message == "") &&
				strings.Contains(resources[before+at].Message, message)
		})
	}
	says("its kind does not exist", 0, "waits for the definition of its kind")
	defineKind(stage, "Widget", "Namespaced")
	defineKind(stage, "Realm", "Cluster")
	says("a cluster-scoped kind is refused", 2, "is cluster-scoped")
	says("the manager has no right", 0, "Grant the manager get, create, patch and delete")

	theirs := newWidget(stage, "theirs")
	stage.CreateObject(theirs)
	stage.CreateObject(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "widgets"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{harness.PlainGroup}, Resources: []string{"widgets"}, Verbs: []string{"get", "create", "patch", "delete"}},
	}})
	stage.CreateObject(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "widgets"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "widgets"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: harness.ManagerUser}},
	})
	says("it is applied", 0, "")
	says("the existing object is left alone", 1, "was not created for this manifest")
	ours := newWidget(stage, "w")
	stage.ReadObject(ours, "w")
	if owner := metav1.GetControllerOf(ours); owner == nil || owner.UID != infrastructure.UID || owner.Kind != "AzureASOManagedCluster" {
		t.Errorf("the owner is %v", owner)
	}
	if diff := cmp.Diff(map[string]any{"size": int64(1)}, ours.Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if _, asks := ours.GetAnnotations()["infrastructure.cluster.x-k8s.io/plain-object"]; asks {
		t.Error("the annotation of the manifest is on the object")
	}

	status := func(ready, message string) {
		t.Helper()
		patch := `{"status":{"conditions":[{"type":"Ready","status":"` + ready + `","message":"` + message + `"}]}}`
		if err := stage.Client.Status().Patch(t.Context(), newWidget(stage, "w"),
			client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	status("False", "is busy")
	says("it is not ready", 0, "is busy")
	status("True", "")
	changed := editManifest(t, infrastructure.Spec.Resources[before], func(spec body) { spec["size"] = 2 })
	harness.ChangeObject(stage, infrastructure, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources[before] = changed })
	stage.Eventually("it is as its manifest", func() bool {
		stage.ReadObject(ours, "w")
		size, _, _ := unstructured.NestedInt64(ours.Object, "spec", "size")
		return size == 2
	})
	harness.ChangeObject(stage, infrastructure, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources = o.Spec.Resources[:before] })
	until("nothing of them is left", func() bool {
		return infrastructure.Annotations[infrav1.PlainObjectsAnnotation] == "" && len(infrastructure.Status.Resources) == before &&
			harness.IsReady(infrastructure)
	})
	stage.WaitGone(newWidget(stage, "w"), "w")
	stage.ReadObject(theirs, "theirs")
}

func newWidget(stage *harness.Stage, name string) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": harness.PlainGroup + "/v1", "kind": "Widget"}}
	out.SetNamespace(stage.Namespace)
	out.SetName(name)
	return out
}

// defineKind defines a kind.
func defineKind(stage *harness.Stage, kind, scope string) {
	stage.T.Helper()
	plural := strings.ToLower(kind) + "s"
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: `+plural+`.`+harness.PlainGroup+`}
spec:
  group: `+harness.PlainGroup+`
  scope: `+scope+`
  names: {kind: `+kind+`, plural: `+plural+`}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`), &definition.Object); err != nil {
		stage.T.Fatal(err)
	}
	stage.CreateObject(definition)
	stage.Eventually(kind+" is served", func() bool {
		list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": harness.PlainGroup + "/v1", "kind": kind + "List"}}
		return stage.Client.List(stage.T.Context(), list, client.Limit(1)) == nil
	})
}
