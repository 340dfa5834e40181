package contract_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// askForAllKinds asks for a cluster of each kind, before a manager runs.
func askForAllKinds(w *virtual.Scenario) {
	w.T.Helper()
	w.ApplyNetwork("c1", nil)
	w.ApplyAKSCluster("aks1", 1)
	w.CreateDocuments(w.BuildASOCluster("aks2", "pool1"))
}

// readVersions returns the resource versions of all objects of these kinds, by kind and name. Each write changes them.
func readVersions(w *virtual.Scenario, kinds []string) map[string]string {
	w.T.Helper()
	out, all := map[string]string{}, listStored(w)
	for _, kind := range kinds {
		for _, object := range all[kind] {
			out[kind+"/"+object.GetName()] = object.GetResourceVersion()
		}
	}
	return out
}

// TestManagedByOthers leaves the infrastructure objects of all kinds alone that another system manages: nothing of them is written, and of the
// self-managed one nothing is made in Azure.
func TestManagedByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		askForAllKinds(w)
		for kind, name := range map[string]string{"AzureCluster": "c1", "AzureManagedCluster": "aks1", "AzureASOManagedCluster": "aks2"} {
			changeObject(w, kind, name, func(object client.Object) {
				object.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "others"})
			})
		}
		before := readVersions(w, infraClusters)
		w.StartProvider()
		w.WaitReady(&infrav1.AzureManagedControlPlane{}, "aks1")
		virtual.WaitForSignal(nil, 10*time.Minute)
		if len(before) != len(infraClusters) {
			t.Fatalf("only %v are managed by others", before)
		}
		if diff := cmp.Diff(before, readVersions(w, infraClusters)); diff != "" {
			t.Errorf("objects that others manage were written (-before +after):\n%s", diff)
		}
		for _, request := range w.Azure.WritesSince(0) {
			if strings.Contains(request, "resourceGroups/c1") {
				t.Errorf("others manage c1, and %s", request)
			}
		}
	})
}

// externallyManageable are the kinds that other managers may reconcile, with the fields that show Cluster API that an object is ready, in
// the object and in its Cluster.
var externallyManageable = map[string]struct{ name, field, ofCluster string }{
	"AzureCluster":             {"c1", "provisioned", "infrastructureProvisioned"},
	"AzureManagedCluster":      {"aks1", "provisioned", "infrastructureProvisioned"},
	"AzureManagedControlPlane": {"aks1", "controlPlaneInitialized", "controlPlaneInitialized"},
	"AzureASOManagedCluster":   {"aks2", "provisioned", "infrastructureProvisioned"},
}

// TestReadyByOthers lets another manager, which manages an object, show by contract v1beta1 that the object is ready. Cluster API reads
// the current contract, so the provider sets the field of that contract, and changes nothing else of the object. It sets the field
// again if the other manager removes it, until Cluster API has read it.
func TestReadyByOthers(t *testing.T) {
	for kind, is := range externallyManageable {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				askForAllKinds(w)
				changeObject(w, kind, is.name, func(object client.Object) {
					object.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "others"})
				})
				w.StartProvider()
				virtual.WaitForSignal(nil, time.Minute)
				show := func(of client.Object, status map[string]any) {
					raw := map[string]any{"status": status}
					if err := w.Client.Status().Patch(t.Context(), of, client.RawPatch(types.MergePatchType, mustJSON(t, raw))); err != nil {
						t.Fatal(err)
					}
					virtual.WaitForSignal(nil, 5*time.Second)
				}
				object, cluster := &unstructured.Unstructured{}, &clusterv1.Cluster{}
				object.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind))
				owned := newObject(w, kind, is.name)
				object.SetNamespace(w.Namespace)
				object.SetName(is.name)
				if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
					t.Fatal(err)
				}
				want := object.DeepCopy()
				for field, value := range map[string]any{"ready": true, "initialization": map[string]any{is.field: true}} {
					if err := unstructured.SetNestedField(want.Object, value, "status", field); err != nil {
						t.Fatal(err)
					}
				}
				shown := func(reason string) {
					t.Helper()
					if err := w.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
						t.Fatal(err)
					}
					want.SetResourceVersion(object.GetResourceVersion())
					if diff := cmp.Diff(want.Object, object.Object); diff != "" {
						t.Errorf("%s (-want +got):\n%s", reason, diff)
					}
				}
				show(owned, map[string]any{"ready": true})
				shown("Cluster API learns that it is ready")
				show(owned, map[string]any{"initialization": nil})
				shown("the other manager removed a field that it does not know")

				w.ReadObject(cluster, is.name)
				show(cluster, map[string]any{"initialization": map[string]any{is.ofCluster: true}})
				show(owned, map[string]any{"initialization": nil})
				unstructured.RemoveNestedField(want.Object, "status", "initialization")
				shown("Cluster API has read it, so the two managers do not go on changing the field")
			})
		})
	}
}

// TestWatchFilter checks that a manager with --watch-filter leaves the objects of all kinds alone that have another label, and takes
// them up once they have its own.
func TestWatchFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		askForAllKinds(w)
		before := readVersions(w, reconciled)
		w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
			m.Services.WatchFilter = "one"
			return virtual.RegisterControllers(ctx, m)
		})
		virtual.WaitForSignal(nil, 10*time.Minute)
		if diff := cmp.Diff(before, readVersions(w, reconciled)); diff != "" {
			t.Errorf("objects without the label were written (-before +after):\n%s", diff)
		}
		if requests := w.Azure.RequestsSince(0); len(requests) > 0 {
			t.Errorf("Azure was asked about objects without the label: %q", requests)
		}
		all := listStored(w)
		for _, kind := range reconciled {
			for _, object := range all[kind] {
				changeObject(w, kind, object.GetName(), func(object client.Object) {
					labels := map[string]string{clusterv1.WatchLabel: "one"}
					for name, value := range object.GetLabels() {
						labels[name] = value
					}
					object.SetLabels(labels)
				})
			}
		}
		w.WaitUntil("objects with the label are provisioned", func() bool {
			now := listStored(w)
			for _, kind := range reconciled {
				for _, object := range now[kind] {
					if ready, _, _ := unstructured.NestedBool(object.Object, "status", "ready"); !ready {
						return false
					}
				}
			}
			return true
		})
	})
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// changeObject changes an object of a kind of this provider.
func changeObject(w *virtual.Scenario, kind, name string, do func(client.Object)) {
	w.T.Helper()
	harness.ChangeObject(w.Stage, newObject(w, kind, name), do)
}

// newObject returns an object of a kind of this provider without its content.
func newObject(w *virtual.Scenario, kind, name string) client.Object {
	w.T.Helper()
	made, err := w.Client.Scheme().New(infrav1.GroupVersion.WithKind(kind))
	if err != nil {
		w.T.Fatal(err)
	}
	out := made.(client.Object)
	out.SetNamespace(w.Namespace)
	out.SetName(name)
	return out
}
