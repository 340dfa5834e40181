package applied_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

const keyPrefix = "sigs.k8s.io/cluster-api-provider-azure-"

// TestEstablishedKeys reads the annotations of the established provider.
func TestEstablishedKeys(t *testing.T) {
	type removed struct {
		Prune []arm.ID
		Sent  map[arm.ID][]string
		Tags  map[arm.ID][]string
	}
	tagsOfAll := map[arm.ID][]string{vnet: {"cost"}, nsg: {"cost"}, group: {"cost"}}
	for name, test := range map[string]struct {
		reason string
		stored map[string]string
		want   removed
	}{
		"tags of the group": {"a tag that the spec no longer has is removed from all resources",
			map[string]string{"last-applied-tags-rg": `{"cost":"1","Team":"2","Name":"n"}`},
			removed{Tags: tagsOfAll}},
		"tags of a machine":   {"CAPZ writes them", map[string]string{"last-applied-tags-vm": `{"cost":"1"}`}, removed{Tags: tagsOfAll}},
		"tags of a scale set": {"CAPZ writes them", map[string]string{"last-applied-tags-vmss": `{"cost":"1"}`}, removed{Tags: tagsOfAll}},
		"mark": {"a mark of ownership stays",
			map[string]string{"last-applied-tags-vm": `{"sigs.k8s.io_cluster-api-provider-azure_cluster_c":"owned"}`}, removed{}},
		"rules": {"CAPZ writes them; a name cannot lead elsewhere",
			map[string]string{"last-applied-security-rules": `{"nsg":{"r":"text","../x":"text","a/b":"text","..":"text"},"../x":{"r":"text"}}`},
			removed{Sent: map[arm.ID][]string{nsg: {"/properties/securityRules[r]"}}}},
		"unreadable": {"it names nothing",
			map[string]string{"last-applied-tags-rg": `[]`, "last-applied-tags-vm": `null`, "last-applied-security-rules": `text`}, removed{}},
		"rules and a plan": {"they are read once: a rule of that name that is created later belongs to another program",
			map[string]string{"applied": `{"applied":{}}`, "last-applied-security-rules": `{"nsg":{"r":"text"}}`}, removed{}},
		"tags and a plan": {"they are read once",
			map[string]string{"applied": `{"applied":{}}`, "last-applied-tags-vm": `{"cost":"1"}`}, removed{}},
		"tags and a plan of v2.0.0-alpha": {"they are read once", map[string]string{"last-applied": `{}`, "last-applied-tags-vm": `{"cost":"1"}`},
			removed{}},
	} {
		t.Run(name, func(t *testing.T) {
			stored := map[string]string{}
			for key, value := range test.stored {
				stored[keyPrefix+key] = value
			}
			if !applied.IsStored(stored) {
				t.Error("there was a plan")
			}
			planned := newGraph(arm.Node{ID: group, Body: newTags("team")}, arm.Node{ID: vnet, Body: newTags("team")},
				arm.Node{ID: nsg, Body: newTags("team")})
			m := applied.ReadState(stored, scope)
			got := removed{Prune: m.ListPruned(planned)}
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
			if made := applied.RecordedResources(stored); len(made) > 0 {
				t.Errorf("%s: the annotations do not prove that Azure has %v", test.reason, made)
			}
		})
	}
}

// TestEstablishedKeysStay makes sure that the established provider finds its annotations when users go back.
func TestEstablishedKeysStay(t *testing.T) {
	obj := &infrav1.AzureCluster{}
	obj.Annotations = map[string]string{keyPrefix + "last-applied-tags-rg": `{"team":"1"}`}
	g := newGraph(arm.Node{ID: group, Body: newTags("team")})
	m := applied.ReadState(obj.Annotations, scope)
	content := applied.Read(obj.Annotations)
	content.Applied = m.PathsAfter(g, arm.Outcome{})
	content.Store(obj)
	want := map[string]string{
		keyPrefix + "applied":              `{"applied":{"*":["/tags/team"],"g":[]}}`,
		keyPrefix + "last-applied-tags-rg": `{"team":"1"}`,
	}
	if diff := cmp.Diff(want, obj.Annotations); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
