package selfmanaged

import (
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestFindAzureClusterReturnsCopy finds the AzureCluster of a Cluster that is gone: the list is not copied, and the returned object is a copy,
// so that callers cannot change the cache.
func TestFindAzureClusterReturnsCopy(t *testing.T) {
	azureCluster := &infrav1.AzureCluster{ObjectMeta: storetest.NewOwnedMeta("mine", "mine")}
	azureCluster.Labels = map[string]string{"of": "cache", clusterv1.ClusterNameLabel: "mine"}
	cache := storetest.NewSharedCache(&infrav1.AzureCluster{ObjectMeta: storetest.NewOwnedMeta("other", "other")}, azureCluster)
	for range 2 {
		found, err := FindAzureCluster(t.Context(), cache, storetest.NewCluster("mine", "AzureCluster", "mine"), true)
		if err != nil || found == nil {
			t.Fatalf("found %v, %v", found, err)
		}
		if of := found.Labels["of"]; of != "cache" || found.Name != "mine" {
			t.Errorf("AzureCluster %s: a change of the returned object changed the cache: %q", found.Name, of)
		}
		found.Labels["of"] = "reconciliation"
	}
}
