package inventory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
)

func TestInventory(t *testing.T) {
	obj := &infrav1.AzureCluster{}
	if got := inventory.Of(obj); got != nil {
		t.Errorf("an object without annotations has no inventory, got %v", got)
	}
	ids := []arm.ID{arm.NewID("s", "g", "Microsoft.Network/virtualNetworks", "v").Child("subnets", "n")}
	inventory.Set(obj, ids)
	if diff := cmp.Diff(ids, inventory.Of(obj)); diff != "" {
		t.Error(diff)
	}
	inventory.Set(obj, nil)
	if _, ok := obj.Annotations[infrav1.InventoryAnnotation]; ok {
		t.Error("an empty inventory leaves no annotation")
	}
	obj.Annotations[infrav1.InventoryAnnotation] = "not JSON"
	if got := inventory.Of(obj); got != nil {
		t.Errorf("what cannot be read names nothing to delete, got %v", got)
	}
}
