package reconcile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestObjectsOfOthersAreNotCounted lists objects of two managers and of another program. Each manager counts those that it reconciles.
func TestObjectsOfOthersAreNotCounted(t *testing.T) {
	objects := []client.Object{&infrav1.AzureCluster{ObjectMeta: storetest.NewMeta("plain")}}
	for name, meta := range map[string]metav1.ObjectMeta{
		"red":     {Labels: map[string]string{clusterv1.WatchLabel: "red"}},
		"blue":    {Labels: map[string]string{clusterv1.WatchLabel: "blue"}},
		"foreign": {Annotations: map[string]string{clusterv1.ManagedByAnnotation: "network-team"}, Labels: map[string]string{clusterv1.WatchLabel: "red"}},
	} {
		object := &infrav1.AzureCluster{ObjectMeta: storetest.NewMeta(name)}
		object.Labels, object.Annotations = meta.Labels, meta.Annotations
		objects = append(objects, object)
	}
	store := storetest.NewClient(t, objects...)
	got := map[string]int{}
	for _, filter := range []string{"", "red", "blue", "green"} {
		states, err := ListObjectStates(t.Context(), store, filter, []client.ObjectList{&infrav1.AzureClusterList{}})
		if err != nil {
			t.Fatal(err)
		}
		got[filter] = len(states)
	}
	if diff := cmp.Diff(map[string]int{"": 3, "red": 1, "blue": 1, "green": 0}, got); diff != "" {
		t.Errorf("objects by watch filter (-want +got):\n%s", diff)
	}
}
