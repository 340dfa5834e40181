package engine_test

import (
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestIgnoredInventoryProtectsForeignSubnet deletes a plan with a foreign subnet that its inventory claims: the claim is no proof for
// an identity that reaches resources of others. Resources below a tagged one are deleted.
func TestIgnoredInventoryProtectsForeignSubnet(t *testing.T) {
	for name, test := range map[string]struct {
		reason   string
		tagged   object
		tagsOnly bool
		stays    bool
	}{
		"with an identity of its own": {"spec and inventory agree, and no other object has the identity", nil, false, false},
		"others' network":             {"Azure has no proof", nil, true, true},
		"own network":                 {"the tag of the network is the proof", ownerTags(), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putResource(arm.ResourceGroupID(sub, "hub"), object{"location": "eastus"})
			w.putResource(hub, object{"location": "eastus", "tags": test.tagged,
				"properties": object{"addressSpace": object{"addressPrefixes": []string{"192.168.0.0/16"}}}})
			theirs := hub.Child("subnets", "theirs")
			w.putResource(theirs, object{"properties": object{"addressPrefix": "192.168.1.0/24"}})
			request := w.newRequest(arm.Node{ID: theirs, Policy: arm.Repair, Foreign: arm.UseForeign, Group: "N"})
			request.Inventory, request.IgnoreInventory = []arm.ID{theirs}, test.tagsOnly
			if outcome := w.deleteUntilDone(request, time.Minute); !outcome.IsDeleted() {
				t.Errorf("%s: %v", test.reason, listStates(outcome))
			}
			if stays := w.getResource(theirs) != nil; stays != test.stays {
				t.Errorf("%s: the subnet stays: %t", test.reason, stays)
			}
		})
	}
}
