package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestMigrated deletes resources without an ownership tag. They are deleted if the caller has proven that they were created for the
// object, together with the resources below them. The tag of another owner overrides the proof.
func TestMigrated(t *testing.T) {
	for name, test := range map[string]struct {
		reason   string
		tagged   object
		migrated []arm.ID
		want     []string
	}{
		"unproven": {"no proof shows that the network was created for the object", nil, nil, nil},
		"proven": {"the caller has the proof", nil, []arm.ID{vnet, vnet.Child("subnets", "nodes")},
			[]string{"DELETE rg virtualNetworks/vnet"}},
		"the group": {"a proven group is deleted as a whole", nil, []arm.ID{group, vnet, vnet.Child("subnets", "nodes")},
			[]string{"DELETE rg"}},
		"of another": {"the network carries the tag of another cluster, so it and its group are kept",
			object{"sigs.k8s.io_cluster-api-provider-azure_cluster_other": "owned"}, []arm.ID{group, vnet}, nil},
		"given up": {"the tag releases the network", object{"sigs.k8s.io_cluster-api-provider-azure_cluster_c1": "shared"},
			[]arm.ID{vnet}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putResource(group, object{"location": "eastus"})
			w.putResource(vnet, object{"location": "eastus", "tags": test.tagged,
				"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}})
			subnet := vnet.Child("subnets", "nodes")
			w.putResource(subnet, object{"properties": object{"addressPrefix": "10.0.0.0/16"}})
			w.listRequests()
			request := w.newRequest(arm.Node{ID: group, Policy: arm.Repair, Foreign: arm.UseForeign, Group: "N"},
				arm.Node{ID: vnet, Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: "N"},
				arm.Node{ID: subnet, Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: "N"})
			request.Migrated, request.DeleteWholeGroups = test.migrated, true
			if outcome := w.deleteUntilDone(request, time.Hour); !outcome.IsDeleted() {
				t.Errorf("%s: %v", test.reason, listStates(outcome))
			}
			if diff := cmp.Diff(test.want, w.listWrites()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestMigratedResourceIsNotWritten converges a resource that was proven to be created for the object: the proof counts for deletions
// only. The resource gets no tag, so that the migration of an object writes nothing.
func TestMigratedResourceIsNotWritten(t *testing.T) {
	w := newWorld(t)
	body := object{"location": "eastus", "properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8"}}}}
	w.putResource(group, object{"location": "eastus"})
	w.putResource(vnet, body)
	other := arm.NewID(sub, "rg", "Microsoft.Network/natGateways", "other")
	w.putResource(other, object{"location": "eastus", "sku": object{"name": "Standard"}})
	w.listRequests()
	request := w.newRequest(arm.Node{ID: vnet, Policy: arm.Repair, Foreign: arm.AdoptForeign, Group: "N", Body: body})
	request.Migrated = []arm.ID{vnet, other}
	if outcome := w.convergeUntilDone(request, time.Minute); !outcome.IsDone() || len(w.listWrites()) > 0 {
		t.Errorf("the planned resource is not changed: %v", listStates(outcome))
	}
	request.Prune = []arm.ID{other}
	if outcome := w.convergeUntilDone(request, time.Hour); !outcome.IsDone() {
		t.Errorf("%v", listStates(outcome))
	}
	if diff := cmp.Diff([]string{"DELETE rg natGateways/other"}, w.listWrites()); diff != "" {
		t.Errorf("the unplanned resource is deleted (-want +got):\n%s", diff)
	}
}
