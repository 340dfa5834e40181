package engine_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// TestTagsWrittenSeparately changes the tags of a bastion host, whose PUT takes Azure minutes: tags are written by themselves, other
// properties with a PUT.
func TestTagsWrittenSeparately(t *testing.T) {
	subnet := vnet.Child("subnets", "AzureBastionSubnet")
	host := arm.NewID(sub, "rg", "Microsoft.Network/bastionHosts", "host")
	node := func(tag string, tunnels bool) arm.Node {
		body := object{"location": "eastus", "tags": ownerTags(), "sku": object{"name": "Standard"},
			"properties": object{"enableTunneling": tunnels,
				"ipConfigurations": []object{{"name": "ip",
					"properties": object{"privateIPAllocationMethod": "Dynamic", "subnet": newReference(subnet), "publicIPAddress": newReference(pip)}}}}}
		body["tags"].(object)["team"] = tag
		return arm.Node{ID: host, Policy: arm.Repair, Group: "N", After: []arm.ID{subnet, pip}, Body: body}
	}
	subnetOf := arm.Node{ID: subnet, Policy: arm.Repair, Group: "N",
		Body: object{"properties": object{"addressPrefixes": []string{"10.2.0.0/26"}}}}
	w, _ := worldWith(t, groupNode(), vnetNode(), pipNode(), subnetOf, node("blue", false))
	for _, step := range []struct {
		reason string
		node   arm.Node
		want   []string
	}{
		{"only tags differ", node("green", false), []string{"PATCH rg bastionHosts/host/providers/Microsoft.Resources/tags/default"}},
		{"a PUT for another difference includes the tags", node("red", true), []string{"PUT rg bastionHosts/host"}},
	} {
		if outcome := w.convergeUntilDone(w.newRequest(groupNode(), vnetNode(), pipNode(), subnetOf, step.node), time.Hour); !outcome.IsDone() {
			t.Fatalf("%+v", outcome.RootCauses())
		}
		if diff := cmp.Diff(step.want, w.listWrites()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
		if got := w.getResource(host)["tags"].(object)["team"]; got != step.node.Body.(object)["tags"].(object)["team"] {
			t.Errorf("%s: the tag is %v", step.reason, got)
		}
	}
}
