package migrated_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// formerAnnotations returns the annotations of v2.0.0-alpha with the content of an object's annotation of this release.
func formerAnnotations(t *testing.T, content applied.Content) map[string]string {
	t.Helper()
	const prefix = "sigs.k8s.io/cluster-api-provider-azure-"
	out := map[string]string{}
	set := func(key string, value any) {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out[prefix+key] = string(raw)
	}
	if content.Applied != nil {
		set("last-applied", content.Applied)
	}
	if list := content.Inventory; list.Object != "" {
		set("inventory", map[string]any{"of": list.Object, "made": list.Created, "adopted": list.Adopted})
	}
	if content.OwnerID != "" {
		out[prefix+"owner-id"] = content.OwnerID
	}
	if migration := content.Migration; migration != nil && migration.Kept == nil {
		set("taken-over", map[string]any{})
	} else if migration != nil {
		set("taken-over", map[string]any{"left": migration.Kept})
	}
	return out
}

// annotated returns all objects with an annotation of this release, by kind and name.
func annotated(w *virtual.Scenario) map[string]client.Object {
	w.T.Helper()
	out := map[string]client.Object{}
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureManagedControlPlaneList{},
		&infrav1.AzureManagedMachinePoolList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
	} {
		if err := w.Kubernetes.List(w.T.Context(), list); err != nil {
			w.T.Fatal(err)
		}
		found := false
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			gvk, err := w.Kubernetes.GroupVersionKindFor(object)
			if stored := object.GetAnnotations()[infrav1.AppliedAnnotation]; stored != "" {
				found, out[gvk.Kind+" "+object.GetName()] = true, object.DeepCopyObject().(client.Object)
			}
			return err
		})
		if err != nil || !found {
			w.T.Fatalf("no object of %T has the annotation (%v)", list, err)
		}
	}
	return out
}

// TestUpgradeFromFormerKeys starts a manager on objects of all kinds with the annotations of v2.0.0-alpha; it expects that the first
// reconciliation replaces them, and writes nothing to Azure.
func TestUpgradeFromFormerKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.NewAtOnce(t)
		manager := w.StartProvider()
		w.BuildCluster("own", 1)
		azurePool := w.AzureMachinePool("own", "pool")
		azurePool.Spec.OrchestrationMode = infrav1.UniformOrchestration
		defaults.FillAzureMachinePool(azurePool, "")
		w.CreatePool(azurePool, 1)
		w.BuildAKSCluster("aks", 1)
		documents := w.BuildASOCluster("c1", "pool0")
		w.CreateASOCluster(documents)
		waitFor(time.Hour)
		mark := w.Azure.MarkRequests()
		waitFor(time.Hour)
		if writes := harness.DropKubeconfigReads(w.Azure.WritesSince(mark)); len(writes) > 0 {
			t.Fatalf("nothing is left to write before the upgrade, got %v", writes)
		}
		manager.StopManager()

		before := annotated(w)
		for _, object := range before {
			harness.ChangeObject(w.Stage, object.DeepCopyObject().(client.Object), func(o client.Object) {
				annotations := o.GetAnnotations()
				former := formerAnnotations(t, applied.Read(annotations))
				delete(annotations, infrav1.AppliedAnnotation)
				for key, value := range former {
					annotations[key] = value
				}
				o.SetAnnotations(annotations)
			})
		}
		mark = w.Azure.MarkRequests()
		w.StartProvider()
		waitFor(time.Hour)
		if writes := harness.DropKubeconfigReads(w.Azure.WritesSince(mark)); len(writes) > 0 {
			t.Errorf("the upgrade writes nothing to Azure, got %v", writes)
		}
		after := annotated(w)
		for name, object := range before {
			want, got := object.GetAnnotations()[infrav1.AppliedAnnotation], after[name].GetAnnotations()
			if got[infrav1.AppliedAnnotation] != want {
				t.Errorf("%s has %s, want %s", name, got[infrav1.AppliedAnnotation], want)
			}
			for _, key := range applied.FormerKeys() {
				if value, has := got[key]; has {
					t.Errorf("%s still has %s: %s", name, key, value)
				}
			}
		}
	})
}
