package patch_test

import (
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestTranslateReady translates the status of every kind that other managers may reconcile and that is ready by contract v1beta1.
func TestTranslateReady(t *testing.T) {
	cluster := &infrav1.AzureCluster{}
	cluster.Status.Ready = true
	managed := &infrav1.AzureManagedCluster{}
	managed.Status.Ready = true
	documents := &infrav1.AzureASOManagedCluster{}
	documents.Status.Ready = true
	ready := &infrav1.AzureManagedControlPlane{}
	ready.Status.Ready = true
	initialized := &infrav1.AzureManagedControlPlane{}
	initialized.Status.Initialized = true
	for name, object := range map[string]client.Object{
		"AzureCluster": cluster, "AzureManagedCluster": managed, "AzureASOManagedCluster": documents,
		"AzureManagedControlPlane, ready": ready, "AzureManagedControlPlane, initialized": initialized,
	} {
		t.Run(name, func(t *testing.T) {
			object.SetNamespace("ns")
			object.SetName("c1")
			store := storetest.NewClient(t, object)
			if !patch.HasReadiness(object) || !patch.HasOnlyLegacyReady(object) {
				t.Error("its readiness by contract v1beta1 is not read")
			}
			if err := patch.TranslateReady(t.Context(), store, object); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
				t.Fatal(err)
			}
			if patch.HasOnlyLegacyReady(object) {
				t.Error("it is not ready by the current contract")
			}
			of := &clusterv1.Cluster{}
			if patch.HasReadReadiness(of, object) {
				t.Error("the Cluster has not read it")
			}
			of.Status.Initialization.InfrastructureProvisioned, of.Status.Initialization.ControlPlaneInitialized = new(true), new(true)
			if !patch.HasReadReadiness(of, object) {
				t.Error("the Cluster has read it")
			}
		})
	}
	if patch.HasOnlyLegacyReady(&infrav1.AzureCluster{}) {
		t.Error("an AzureCluster that is not ready counts as ready")
	}
	if patch.HasReadiness(&infrav1.AzureMachine{}) {
		t.Error("no other manager reconciles AzureMachines")
	}
}
