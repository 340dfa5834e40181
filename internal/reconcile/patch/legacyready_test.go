package patch_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestProvisioned has every kind of infrastructure cluster ready in the words of the former contract.
func TestProvisioned(t *testing.T) {
	cluster := &infrav1.AzureCluster{ObjectMeta: storetest.NewMeta("c1")}
	cluster.Status.Ready = true
	managed := &infrav1.AzureManagedCluster{ObjectMeta: storetest.NewMeta("c1")}
	managed.Status.Ready = true
	documents := &infrav1.AzureASOManagedCluster{ObjectMeta: storetest.NewMeta("c1")}
	documents.Status.Ready = true
	for _, object := range []client.Object{cluster, managed, documents} {
		store := storetest.NewClient(t, object)
		if !patch.HasOnlyLegacyReady(object) {
			t.Errorf("%T is ready in the words of the former contract only", object)
		}
		if err := patch.MarkProvisioned(t.Context(), store, object); err != nil {
			t.Fatal(err)
		}
		if patch.HasOnlyLegacyReady(object) {
			t.Errorf("%T is not provisioned in the words of today's contract", object)
		}
		if patch.HasOnlyLegacyReady(object.DeepCopyObject().(client.Object)) {
			t.Errorf("%T is written again", object)
		}
	}
	if patch.HasOnlyLegacyReady(&infrav1.AzureCluster{}) {
		t.Error("an AzureCluster that is not ready counts as provisioned")
	}
}
