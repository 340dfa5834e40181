package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

const annotations = "sigs.k8s.io/cluster-api-provider-azure-"

// TestLegacy reads what earlier releases and the established provider stored.
func TestLegacy(t *testing.T) {
	type removed struct {
		Prune []arm.ID
		Made  []arm.ID
		Sent  map[arm.ID][]string
		Tags  map[arm.ID][]string
	}
	const shortNetwork = "/resourceGroups/g/providers/Microsoft.Network/"
	const nsgShort = shortNetwork + "networkSecurityGroups/nsg"
	g := func() *arm.Graph {
		return newGraph(arm.Node{ID: group, Body: newTags("team")}, arm.Node{ID: vnet, Body: newTags("team")}, arm.Node{ID: nsg, Body: newTags("team")})
	}
	for name, test := range map[string]struct {
		reason string
		stored map[string]string
		want   removed
	}{
		"resources": {"what was planned and is no more goes", map[string]string{"planned": `["` + shortNetwork + `publicIPAddresses/ip","/resourceGroups/other","no ID",""]`},
			removed{Prune: []arm.ID{address}}},
		"parts": {"parts of a resource were written as if they were its children", map[string]string{"planned": `["` + shortNetwork + `virtualNetworks/v/subnets/nodes/natGateway/nat",
			"` + shortNetwork + `virtualNetworks/v/subnets/nodes/serviceEndpoints/Microsoft.Sql","` + shortNetwork + `loadBalancers/lb/loadBalancingRules/r","` + shortNetwork + `virtualNetworks/v/addressPrefixes/10.0.0.0_8"]`},
			removed{Prune: []arm.ID{lb, nodes}, Sent: map[arm.ID][]string{
				nodes: {"/properties/natGateway", "/properties/serviceEndpoints[Microsoft.Sql]"},
				lb:    {"/properties/loadBalancingRules[r]"},
				vnet:  {"/properties/addressSpace/addressPrefixes[10.0.0.0/8]"},
			}}},
		"addresses": {"which gateway had which was not stored", map[string]string{"planned": `["` + shortNetwork + `natGateways/nat","` + shortNetwork + `publicIPAddresses/ip"]`},
			removed{Prune: []arm.ID{gateway, address}, Sent: map[arm.ID][]string{gateway: {"/properties/publicIpAddresses[" + address + "]"}}}},
		"network": {"its ownership tag was seen", map[string]string{"planned": `["` + shortNetwork + `virtualNetworks/v/tags/sigs.k8s.io_cluster-api-provider-azure_cluster_c"]`},
			removed{Made: []arm.ID{shortNetwork + "virtualNetworks/v"}, Sent: map[arm.ID][]string{vnet: {""}}}},
		"made": {"it was seen in Azure", map[string]string{"made": `["/resourceGroups/g","` + shortNetwork + `virtualNetworks/v/subnets/nodes"]`},
			removed{Prune: []arm.ID{nodes}, Made: []arm.ID{"/resourceGroups/g", shortNetwork + "virtualNetworks/v/subnets/nodes"}, Sent: map[arm.ID][]string{nodes: {""}}}},
		"paths": {"those of one resource, and the tags of all", map[string]string{"sent": `["/properties/natGateway","/additionalTags/cost","/additionalTags/team"]`},
			removed{Prune: []arm.ID{nodes}, Sent: map[arm.ID][]string{nodes: {"/properties/natGateway"}}, Tags: map[arm.ID][]string{vnet: {"cost"}, nsg: {"cost"}, group: {"cost"}}}},
		"tags": {"those of all resources, and of security groups", map[string]string{"last-applied-tags-rg": `{"cost":"1","Team":"2","Name":"n"}`, "last-applied-tags-nsg": `{"own":"1"}`},
			removed{Prune: nil, Sent: map[arm.ID][]string{nsg: {"/tags/own"}}, Tags: map[arm.ID][]string{vnet: {"cost"}, nsg: {"cost", "own"}, group: {"cost"}}}},
		"tags of a machine": {"the established provider writes them", map[string]string{"last-applied-tags-vm": `{"cost":"1"}`},
			removed{Tags: map[arm.ID][]string{vnet: {"cost"}, nsg: {"cost"}, group: {"cost"}}}},
		"tags of a scale set": {"the established provider writes them", map[string]string{"last-applied-tags-vmss": `{"cost":"1"}`},
			removed{Tags: map[arm.ID][]string{vnet: {"cost"}, nsg: {"cost"}, group: {"cost"}}}},
		"rules": {"the established provider writes them", map[string]string{"last-applied-security-rules": `{"nsg":{"r":"text","../x":"text"}}`},
			removed{Sent: map[arm.ID][]string{nsg: {"/properties/securityRules[r]"}}}},
		"rules as resources": {"rules were recorded by their own IDs", map[string]string{"last-applied": `{"g/providers/Microsoft.Network/networkSecurityGroups/nsg/securityRules/r":[""]}`},
			removed{Sent: map[arm.ID][]string{nsg: {"/properties/securityRules[r]"}}, Made: []arm.ID{nsgShort + "/securityRules/r"}}},
		"whole lists": {"a list into which other programs write is not the object's", map[string]string{"last-applied": `{"g/providers/Microsoft.Network/networkSecurityGroups/nsg":["/properties/securityRules"]}`},
			removed{}},
		"rules, later": {"one of that name that is made later is somebody's", map[string]string{"planned": `[]`, "last-applied-security-rules": `{"nsg":{"r":"text"}}`}, removed{}},
		"unreadable":   {"it names nothing", map[string]string{"planned": `{`, "made": `{`, "sent": `1`, "last-applied-tags-rg": `[]`, "last-applied-tags-vm": `null`, "last-applied-security-rules": `text`}, removed{}},
		"both":         {"they are read once", map[string]string{"last-applied": `{}`, "planned": `["` + shortNetwork + `publicIPAddresses/ip"]`, "last-applied-tags-vm": `{"cost":"1"}`}, removed{}},
	} {
		t.Run(name, func(t *testing.T) {
			stored := map[string]string{}
			for key, value := range test.stored {
				stored[annotations+key] = value
			}
			if !applied.IsStored(stored) {
				t.Error("there was a plan")
			}
			m, planned := applied.ReadState(stored, scope), g()
			got := removed{Prune: m.ListPruned(planned), Made: applied.RecordedResources(stored)}
			for _, id := range []arm.ID{nodes, lb, vnet, gateway, nsg} {
				if sent := m.AppliedPaths(id); len(sent) > 0 {
					if got.Sent == nil {
						got.Sent = map[arm.ID][]string{}
					}
					got.Sent[id] = sent
				}
			}
			m.AddRemovals(planned)
			for _, node := range planned.Nodes() {
				if len(node.DropTags) > 0 {
					if got.Tags == nil {
						got.Tags = map[arm.ID][]string{}
					}
					got.Tags[node.ID] = node.DropTags
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestLegacyIsTakenAway makes sure that ours of earlier releases go with the first write, and that the established provider
// finds its own when users go back.
func TestLegacyIsTakenAway(t *testing.T) {
	stored := map[string]string{annotations + "planned": `["/resourceGroups/g"]`, annotations + "last-applied-tags-rg": `{"team":"1"}`}
	g := newGraph(arm.Node{ID: group, Body: newTags("team")})
	m := applied.ReadState(stored, scope)
	if got := m.AnnotationsBefore(g); got != nil {
		t.Errorf("all of it is stored already, in other words: got %v", got)
	}
	want := map[string]string{
		infrav1.LastAppliedAnnotation: `{"*":["/tags/team"],"g":[]}`,
		annotations + "planned":       "", annotations + "made": "", annotations + "sent": "", annotations + "last-applied-tags-nsg": "",
	}
	if diff := cmp.Diff(want, m.AnnotationsAfter(g, arm.Outcome{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
