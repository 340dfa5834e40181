package established_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// readObject returns an object of the namespace default.
func readObject(t *testing.T, kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// TestMigrateBackAfterChanges changes the owner of an object of the operator after a migration, and replaces the owner of another one.
// check --back lists this. The return leaves both objects in a state in which the operator writes and deletes nothing.
func TestMigrateBackAfterChanges(t *testing.T) {
	installCluster(t)
	ownAnOperatorObject(t)
	group := schema.GroupVersionKind{Group: "resources.azure.com", Version: "v1api20240901storage", Kind: "ResourceGroup"}
	cluster, machine := migration.GroupVersion.WithKind("AzureCluster"), migration.GroupVersion.WithKind("AzureMachine")
	detached := readObject(t, group, "detached")
	detached.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: migration.GroupVersion.String(), Kind: "AzureMachine", Name: "one-worker-b",
		UID: readObject(t, machine, "one-worker-b").GetUID()}})
	if err := api.client.Update(t.Context(), detached); err != nil {
		t.Fatal(err)
	}
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Fatal(err)
	}

	// No manager serves the webhooks, so the objects are changed in etcd.
	changed := readObject(t, cluster, "one")
	changed.SetGeneration(changed.GetGeneration() + 1)
	changed.SetAnnotations(map[string]string{
		"sigs.k8s.io/cluster-api-provider-azure-delete-leftovers": "true",
		"sigs.k8s.io/cluster-api-provider-azure-applied":          `{"inventory":{"object":"AzureCluster/default/one","adopted":["/subscriptions/55555555-5555-4555-8555-555555555555/resourceGroups/one"]}}`,
	})
	storeInEtcd(t, changed)
	identity := readObject(t, migration.GroupVersion.WithKind("AzureClusterIdentity"), "workload")
	if err := unstructured.SetNestedStringSlice(identity.Object, []string{"/subscriptions/*"}, "spec", "allowedResources"); err != nil {
		t.Fatal(err)
	}
	storeInEtcd(t, identity)
	annotate := func(object *unstructured.Unstructured, annotations map[string]string) {
		t.Helper()
		object.SetAnnotations(annotations)
		if err := api.client.Update(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			object.SetAnnotations(nil)
			if err := client.IgnoreNotFound(api.client.Update(context.WithoutCancel(t.Context()), object)); err != nil {
				t.Error(err)
			}
		})
	}
	annotate(readObject(t, schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "Cluster"}, "one"),
		map[string]string{"infrastructure.cluster.x-k8s.io/observe": "true", "infrastructure.cluster.x-k8s.io/stop": "true"})
	credential := &unstructured.Unstructured{}
	credential.SetAPIVersion("v1")
	credential.SetKind("Secret")
	credential.SetNamespace("default")
	credential.SetName("shared-credential")
	if err := api.client.Create(t.Context(), credential); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteAll(t, []*unstructured.Unstructured{credential}) })
	annotate(credential, map[string]string{"infrastructure.cluster.x-k8s.io/identity-namespaces": "team"})
	replaced := readObject(t, machine, "one-worker-b")
	replaced.SetUID("77777777-7777-4777-8777-777777777777")
	storeInEtcd(t, replaced)

	out, err := runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--back")
	if err != nil {
		t.Error(err)
	}
	compareGolden(t, "back-after-changes.txt", out)
	if err := newMove(t, c, 1000).Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	type state struct {
		Policy             string
		Finalizers, Owners int
	}
	got := map[string]state{}
	for _, name := range []string{"one", "detached"} {
		object := readObject(t, group, name)
		got[name] = state{object.GetAnnotations()["serviceoperator.azure.com/reconcile-policy"], len(object.GetFinalizers()),
			len(object.GetOwnerReferences())}
	}
	if diff := cmp.Diff(map[string]state{"one": {"skip", 1, 1}, "detached": {"skip", 0, 0}}, got); diff != "" {
		t.Errorf("the operator's objects (-want +got):\n%s", diff)
	}
	out, err = runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--back")
	if !errors.As(err, new(environment.FoundError)) || !strings.Contains(out, "There is no backup of a migration.") {
		t.Errorf("a second return: %v\n%s", err, out)
	}
}
