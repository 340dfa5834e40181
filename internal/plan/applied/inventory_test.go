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
		reason, inventory string
		want              applied.Inventory
		another           bool
	}{
		"none":      {"nothing was created", `{}`, applied.Inventory{}, false},
		"no object": {"nothing shows whose it is", `{"created":[` + id + `]}`, applied.Inventory{}, false},
		"its own": {"the object is the one that it was written for", `{"object":"AzureCluster/ns/c1","created":[` + id + `]}`,
			applied.Inventory{Object: "AzureCluster/ns/c1", Created: []arm.ID{subnet}}, false},
		"adopted": {"adopted resources are listed apart", `{"object":"AzureCluster/ns/c1","adopted":[` + id + `]}`,
			applied.Inventory{Object: "AzureCluster/ns/c1", Adopted: []arm.ID{subnet}}, false},
		"another namespace's": {"nothing was created for a copy", `{"object":"AzureCluster/other/c1","created":[` + id + `]}`,
			applied.Inventory{Object: "AzureCluster/other/c1"}, true},
		"another kind's": {"nothing was created for an object of another kind", `{"object":"AzureMachine/ns/c1","created":[` + id + `]}`,
			applied.Inventory{Object: "AzureMachine/ns/c1"}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1",
				Annotations: map[string]string{infrav1.AppliedAnnotation: `{"inventory":` + test.inventory + `}`}}}
			got := applied.ReadInventory("AzureCluster", obj)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if another := got.IsOfAnother("AzureCluster", obj); another != test.another {
				t.Errorf("%s: of another %t", test.reason, another)
			}
		})
	}
}

func TestSetInventory(t *testing.T) {
	obj := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1"}}
	store := func(created, adopted []arm.ID) {
		content := applied.Read(obj.Annotations)
		content.SetInventory("AzureCluster", obj, created, adopted)
		content.Store(obj)
	}
	store(nil, nil)
	if len(obj.Annotations) > 0 {
		t.Errorf("an object that never had an inventory gets none, but: %v", obj.Annotations)
	}
	store([]arm.ID{subnet}, []arm.ID{subnet.Parent()})
	want := applied.Inventory{Object: "AzureCluster/ns/c1", Created: []arm.ID{subnet}, Adopted: []arm.ID{subnet.Parent()}}
	if diff := cmp.Diff(want, applied.ReadInventory("AzureCluster", obj)); diff != "" {
		t.Errorf("(-stored +read):\n%s", diff)
	}
	store(nil, nil)
	if diff := cmp.Diff(applied.Inventory{Object: "AzureCluster/ns/c1"}, applied.ReadInventory("AzureCluster", obj)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !applied.IsStored(obj.Annotations) {
		t.Error("an inventory that is empty by now shows that resources were created")
	}
}
