package lent_test

import (
	"fmt"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// TestManyReferences restricts a role definition with as many scopes as an object can have, each in a resource group of its own: it needs few
// reads from Azure and few searches of the spec, and it is never written, even over a resource that has the first scopes already.
func TestManyReferences(t *testing.T) {
	const scopes = 5000
	list := func(n int) (out []any) {
		for i := range n {
			out = append(out, fmt.Sprintf("/subscriptions/s/resourceGroups/theirs%d/providers/Microsoft.Compute/disks/d", i))
		}
		return out
	}
	body := func(n int) object { return object{"properties": object{"assignableScopes": list(n)}} }
	for name, test := range map[string]struct {
		fact lent.Fact
		want func(*arm.Node) string
	}{
		"of others":       {lent.Fact{Exists: true}, func(n *arm.Node) string { return n.DenialMessage(body(100)) }},
		"that are absent": {lent.Fact{}, func(n *arm.Node) string { return n.Blocked }},
	} {
		t.Run(name, func(t *testing.T) {
			g := &arm.Graph{}
			g.Add(arm.Node{ID: newID(ours, "Microsoft.Compute/diskEncryptionSets", "e"), Policy: arm.Repair, Body: body(scopes)})
			searches, reads := 0, 0
			in := lent.Input{Owner: ownership.Owner{Cluster: "c1", ID: "us"}, Facts: map[string]lent.Fact{},
				Field: func(arm.ID) string { searches++; return "" }}
			for missing := lent.ListMissingFacts(g, in); len(missing) > 0; missing = lent.ListMissingFacts(g, in) {
				for _, id := range missing {
					reads++
					in.Facts[id.Key()] = test.fact
					if id.Equal(arm.ID(ours)) {
						in.Facts[id.Key()] = azure[ours]
					}
				}
			}
			denials := lent.RestrictGraph(g, in)
			if searches > 25 || reads > 50 || len(denials) > 25 {
				t.Errorf("%d denials with %d searches and %d reads", len(denials), searches, reads)
			}
			if test.want(g.Nodes()[0]) == "" {
				t.Error("the node is written")
			}
		})
	}
}
