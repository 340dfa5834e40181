package established_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

var groupKind = schema.GroupVersionKind{Group: "resources.azure.com", Version: "v1api20240901storage", Kind: "ResourceGroup"}

// createGroup creates an object of the operator for the AzureCluster one, as the established provider does.
func createGroup(t *testing.T, name string) {
	t.Helper()
	group := &unstructured.Unstructured{}
	group.SetGroupVersionKind(groupKind)
	group.SetNamespace("default")
	group.SetName(name)
	group.SetFinalizers([]string{"serviceoperator.azure.com/finalizer"})
	group.SetAnnotations(map[string]string{"serviceoperator.azure.com/reconcile-policy": "manage"})
	group.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: migration.GroupVersion.String(), Kind: "AzureCluster", Name: "one",
		UID: readObject(t, migration.GroupVersion.WithKind("AzureCluster"), "one").GetUID()}})
	if err := api.client.Create(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeObjects(t, []*unstructured.Unstructured{group}) })
}

// groupState is the part of an object of the operator that a migration changes.
type groupState struct {
	Policy             string
	Finalizers, Owners int
}

func readGroup(t *testing.T, name string) groupState {
	t.Helper()
	group := readObject(t, groupKind, name)
	return groupState{group.GetAnnotations()["serviceoperator.azure.com/reconcile-policy"], len(group.GetFinalizers()), len(group.GetOwnerReferences())}
}

// TestMigrateRepeated lets the established provider continue to run, and create objects of its operator, after a migration was interrupted:
// before and after the step stop, and while it stops. It expects all of them in the backup, so that the return restores them.
func TestMigrateRepeated(t *testing.T) {
	installCluster(t)
	ownAnOperatorObject(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), killed: 1}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })

	// The progress is stored with two requests, the backup with two, and the stop of each Deployment with one.
	if _, err := newMove(t, c, 5).Forward(t.Context()); err == nil || !strings.Contains(err.Error(), "step stop") {
		t.Fatalf("the first run ends with %v", err)
	}
	createGroup(t, "before-stop")
	stopping := newMove(t, c, 1000)
	stopping.Client = &creatingClient{stopping.Client, func() { createGroup(t, "while-stopping") }}
	if _, err := stopping.Forward(t.Context()); err == nil || !strings.Contains(err.Error(), "step upgrade") {
		t.Fatalf("the second run ends with %v", err)
	}
	if got := readGroup(t, "before-stop"); got != (groupState{"skip", 0, 0}) {
		t.Errorf("an object is not released: %+v", got)
	}
	createGroup(t, "after-stop")
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Fatal(err)
	}
	unknown := readObject(t, groupKind, "one").DeepCopy()
	unknown.SetName("not-in-backup")
	unknown.SetResourceVersion("")
	unknown.SetUID("")
	if err := api.client.Create(t.Context(), unknown); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeObjects(t, []*unstructured.Unstructured{unknown}) })

	out, err := runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--back", "--output", "json")
	if err != nil {
		t.Error(err)
	}
	if strings.Count(out, "the backup does not have it") != 1 || !strings.Contains(out, "ResourceGroup default/not-in-backup") {
		t.Errorf("the check does not name the object that is not in the backup alone:\n%s", out)
	}
	if err := newMove(t, c, 1000).Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	managed := groupState{"manage", 1, 1}
	want := map[string]groupState{"one": managed, "before-stop": managed, "while-stopping": managed, "after-stop": managed,
		"not-in-backup": {"skip", 0, 0}}
	got := map[string]groupState{}
	for name := range want {
		got[name] = readGroup(t, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects of the operator after the return (-want +got):\n%s", diff)
	}
}

// creatingClient calls create before it first lists pods, as a step does that waits for them to stop.
type creatingClient struct {
	client.Client
	create func()
}

// List implements client.Reader.
func (c *creatingClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*corev1.PodList); ok && c.create != nil {
		c.create()
		c.create = nil
	}
	return c.Client.List(ctx, list, options...)
}

// TestMigrateForgotten deletes the progress of a migration that has released one object of the operator and half of another one. The
// repetition makes the backup again and keeps the state of both before the migration.
func TestMigrateForgotten(t *testing.T) {
	installCluster(t)
	ownAnOperatorObject(t)
	createGroup(t, "half")
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), killed: 1}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err == nil || !strings.Contains(err.Error(), "step upgrade") {
		t.Fatalf("the first run ends with %v", err)
	}
	half := readObject(t, groupKind, "half")
	half.SetFinalizers([]string{"serviceoperator.azure.com/finalizer"})
	half.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: migration.GroupVersion.String(), Kind: "AzureCluster", Name: "one",
		UID: readObject(t, migration.GroupVersion.WithKind("AzureCluster"), "one").GetUID()}})
	if err := api.client.Update(t.Context(), half); err != nil {
		t.Fatal(err)
	}
	progress := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: migration.Namespace, Name: "capz-migration"}}
	if err := api.client.Delete(t.Context(), progress); err != nil {
		t.Fatal(err)
	}
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := newMove(t, c, 1000).Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "half"} {
		if got, want := readGroup(t, name), (groupState{"manage", 1, 1}); got != want {
			t.Errorf("ResourceGroup %s is %+v after the return, want %+v", name, got, want)
		}
	}
}
