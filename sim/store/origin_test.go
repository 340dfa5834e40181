package store_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// origin has resources by ID and lists none, as extensions of resources are listed nowhere.
type origin map[string]bool

// ReadResource implements store.Origin.
func (o origin) ReadResource(id string) *store.Resource {
	if !o[id] {
		return nil
	}
	return newResource(id, map[string]any{"location": "eastus"})
}

// ListResources implements store.Origin.
func (origin) ListResources(string, string) []*store.Resource { return nil }

// TestNothingIsCopiedBelowADeletedResource deletes a copied resource and reads an extension of it, which the origin still has.
func TestNothingIsCopiedBelowADeletedResource(t *testing.T) {
	const (
		cluster   = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
		extension = cluster + "/providers/Microsoft.KubernetesConfiguration/extensions/e"
		other     = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/other"
		kept      = other + "/providers/Microsoft.KubernetesConfiguration/extensions/e"
	)
	s := openStore(t, "")
	s.SetOrigin(origin{cluster: true, extension: true, other: true, kept: true})
	updateStore(t, s, func(tx *store.Tx) { tx.Delete(cluster) })
	updateStore(t, s, func(tx *store.Tx) { tx.Put(newResource(cluster, map[string]any{"location": "westus"})) })
	s.View(func(tx *store.Tx) {
		if tx.Get(extension) != nil {
			t.Error("the extension of the deleted cluster is copied")
		}
		if tx.Get(kept) == nil {
			t.Error("the extension of the other cluster is not copied")
		}
	})
}
