package engine_test

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestDeleteGroupsThatDependOnEachOther deletes a cluster with the network in a group of its own: an interface of the other group is in one
// of its subnets, and that subnet uses a NAT gateway of the other group. Neither group can be deleted before the other, so the test expects
// that their resources are deleted first.
func TestDeleteGroupsThatDependOnEachOther(t *testing.T) {
	w := newWorld(t)
	second := arm.ResourceGroupID(sub, "net")
	remote := arm.NewID(sub, "net", "Microsoft.Network/virtualNetworks", "vnet")
	subnet := remote.Child("subnets", "nodes")
	ours := groupNode()
	ours.ID = second
	network := vnetNode()
	network.ID = remote
	inNAT := arm.Node{ID: subnet, Policy: arm.Repair, Group: "N", After: []arm.ID{nat},
		Body: object{"properties": object{"addressPrefix": "10.0.0.0/16", "natGateway": newReference(nat)}}}
	inSubnet := nicNode()
	inSubnet.After = []arm.ID{subnet}
	inSubnet.Body = object{"location": "eastus", "tags": ownerTags(),
		"properties": object{"ipConfigurations": []object{{"name": "ip", "properties": object{"subnet": newReference(subnet)}}}}}
	left := arm.NewID(sub, "rg", "Microsoft.Network/publicIPAddresses", "left")
	w.putResource(group, object{"location": "eastus", "tags": ownerTags()})
	w.putResource(left, object{"location": "eastus", "tags": ownerTags()})

	request := w.newRequest(groupNode(), ours, network, pipNode(), natNode(), inNAT, inSubnet)
	outcome := w.convergeUntilDone(request, time.Minute)
	if !outcome.IsDone() {
		t.Fatalf("%+v", outcome.RootCauses())
	}
	w.listWrites()
	request.Inventory, request.DeleteWholeGroups = outcome.Inventory, true
	if outcome = w.deleteUntilDone(request, 10*time.Minute); !outcome.IsDeleted() {
		t.Fatalf("%v", listStates(outcome))
	}
	writes := w.listWrites()
	position := func(line string) int {
		at := slices.Index(writes, line)
		if at < 0 {
			t.Errorf("no %q in %q", line, writes)
		}
		return at
	}
	for _, order := range [][2]string{
		{"DELETE rg networkInterfaces/nic", "DELETE net virtualNetworks/vnet"},
		{"DELETE net virtualNetworks/vnet", "DELETE rg natGateways/nat"},
		{"DELETE rg natGateways/nat", "DELETE rg"},
		{"DELETE net virtualNetworks/vnet", "DELETE net"},
	} {
		if position(order[0]) > position(order[1]) {
			t.Errorf("%q must come before %q: %q", order[0], order[1], writes)
		}
	}
	if w.getResource(group) != nil || w.getResource(second) != nil {
		t.Error("both groups must be deleted, with their resources")
	}
}
