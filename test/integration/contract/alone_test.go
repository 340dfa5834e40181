package contract_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/clusters"
)

// asked asks for a cluster of each kind, before a manager runs.
func asked(w *clusters.World) {
	w.T.Helper()
	w.Network("c1", nil)
	w.AKS("aks1", 1)
	w.CreateDocuments(w.Documents("aks2", "pool1"))
}

// versions are the resource versions of all objects of these kinds, by kind and name. Each write changes them.
func versions(w *clusters.World, kinds []string) map[string]string {
	w.T.Helper()
	out, all := map[string]string{}, stored(w)
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
		w := clusters.New(t)
		asked(w)
		for kind, name := range map[string]string{"AzureCluster": "c1", "AzureManagedCluster": "aks1", "AzureASOManagedCluster": "aks2"} {
			change(w, kind, name, func(object client.Object) {
				object.SetAnnotations(map[string]string{clusterv1.ManagedByAnnotation: "others"})
			})
		}
		before := versions(w, infraClusters)
		w.Manage()
		w.Until("the control plane is Ready", clusters.Ready(w, &infrav1.AzureManagedControlPlane{}, "aks1", func(c *infrav1.AzureManagedControlPlane) bool { return harness.Ready(c) }))
		virtual.Wait(nil, 10*time.Minute)
		if len(before) != len(infraClusters) {
			t.Fatalf("only %v are managed by others", before)
		}
		if diff := cmp.Diff(before, versions(w, infraClusters)); diff != "" {
			t.Errorf("objects that others manage were written (-before +after):\n%s", diff)
		}
		for _, request := range w.Azure.Writes(0) {
			if strings.Contains(request, "resourceGroups/c1") {
				t.Errorf("others manage c1, and %s", request)
			}
		}
	})
}

// TestWatchFilter has a manager with --watch-filter leave the objects of all kinds alone that have another label, and take them up once they have
// its own.
func TestWatchFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := clusters.New(t)
		asked(w)
		before := versions(w, reconciled)
		w.Start(func(ctx context.Context, m *virtual.Manager) error {
			m.Services.WatchFilter = "one"
			return clusters.Register(ctx, m)
		})
		virtual.Wait(nil, 10*time.Minute)
		if diff := cmp.Diff(before, versions(w, reconciled)); diff != "" {
			t.Errorf("objects without the label were written (-before +after):\n%s", diff)
		}
		if requests := w.Azure.Since(0); len(requests) > 0 {
			t.Errorf("Azure was asked about objects without the label: %q", requests)
		}
		all := stored(w)
		for _, kind := range reconciled {
			for _, object := range all[kind] {
				change(w, kind, object.GetName(), func(object client.Object) {
					labels := map[string]string{clusterv1.WatchLabel: "one"}
					for name, value := range object.GetLabels() {
						labels[name] = value
					}
					object.SetLabels(labels)
				})
			}
		}
		w.Until("objects with the label are provisioned", func() bool {
			now := stored(w)
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

// change changes an object of a kind of this provider.
func change(w *clusters.World, kind, name string, do func(client.Object)) {
	w.T.Helper()
	made, err := w.Client.Scheme().New(infrav1.GroupVersion.WithKind(kind))
	if err != nil {
		w.T.Fatal(err)
	}
	object := made.(client.Object)
	object.SetName(name)
	harness.Change(w.Stage, object, do)
}
