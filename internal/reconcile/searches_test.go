package reconcile

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// TestFieldsAreSearchedAFewTimes checks that a reconciliation with many faults does not read the whole spec for each of them.
func TestFieldsAreSearchedAFewTimes(t *testing.T) {
	object := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
	a := &azureReconciliation[*infrav1.AzureCluster, any]{reconciliation: &reconciliation[*infrav1.AzureCluster, any]{object: object}}
	found, searched := 0, 0
	for range 1000 {
		if a.findField(func(specfield.Spec) string { searched++; return "spec.location" }) != "" {
			found++
		}
	}
	if found != maxSearches || searched != maxSearches {
		t.Errorf("%d fields are found in %d searches, want %d", found, searched, maxSearches)
	}
}
