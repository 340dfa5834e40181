package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

var subnet = arm.NewID("s", "g", "Microsoft.Network/virtualNetworks", "v").Child("subnets", "n")

func TestReadInventory(t *testing.T) {
	const id = `"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n"`
	tests := map[string]struct {
		reason, annotation string
		want               applied.Inventory
	}{
		"none":                {"nothing was made", "", applied.Inventory{}},
		"broken":              {"what cannot be read names nothing to delete", "not JSON", applied.Inventory{}},
		"its own":             {"the object is the one that it was written for", `{"of":"AzureCluster/ns/c1","made":[` + id + `]}`, applied.Inventory{Created: []arm.ID{subnet}}},
		"adopted":             {"what was adopted is apart", `{"of":"AzureCluster/ns/c1","adopted":[` + id + `]}`, applied.Inventory{Adopted: []arm.ID{subnet}}},
		"another namespace's": {"a copy has made nothing", `{"of":"AzureCluster/other/c1","made":[` + id + `]}`, applied.Inventory{CopiedFrom: "AzureCluster/other/c1"}},
		"another kind's":      {"nor has an object of another kind", `{"of":"AzureMachine/ns/c1","made":[` + id + `]}`, applied.Inventory{CopiedFrom: "AzureMachine/ns/c1"}},
		"an earlier one":      {"earlier releases stored a list", `[` + id + `]`, applied.Inventory{Created: []arm.ID{subnet}, FromEarlierRelease: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1", Annotations: map[string]string{infrav1.InventoryAnnotation: test.annotation}}}
			if diff := cmp.Diff(test.want, applied.ReadInventory("AzureCluster", obj)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestInventoryAnnotation(t *testing.T) {
	obj := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1"}}
	want := applied.Inventory{Created: []arm.ID{subnet}, Adopted: []arm.ID{subnet.Parent()}}
	obj.Annotations = want.BuildAnnotations("AzureCluster", obj)
	if diff := cmp.Diff(want, applied.ReadInventory("AzureCluster", obj)); diff != "" {
		t.Errorf("what is stored is read (-want +got):\n%s", diff)
	}
	if value := (applied.Inventory{}).BuildAnnotations("AzureCluster", obj)[infrav1.InventoryAnnotation]; value != `{"of":"AzureCluster/ns/c1"}` {
		t.Errorf("an inventory that is empty by now says so, or updates keep the old one: %s", value)
	}
	obj.Annotations = nil
	if value := (applied.Inventory{}).BuildAnnotations("AzureCluster", obj)[infrav1.InventoryAnnotation]; value != "" {
		t.Errorf("an empty inventory is no annotation, but: %s", value)
	}
}
