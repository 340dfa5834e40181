package applied

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestAddRemovalsRemovesEntriesWithDots removes an entry of a map whose key looks like a path.
func TestAddRemovalsRemovesEntriesWithDots(t *testing.T) {
	const id arm.ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/providers/Microsoft.KubernetesConfiguration/extensions/e"
	state := State{Scope: Scope{SubscriptionID: "s", AllLeaves: true, Types: Types{types.ClusterExtension: "Ready"}}, applied: pathSet{}}
	state.applied.addPaths(trimSubscription(id), "/properties/configurationSettings/grafana.enabled",
		"/properties/configurationSettings/example.com~1team[x]")
	body := map[string]any{"properties": map[string]any{"configurationSettings": map[string]any{}}}
	var g arm.Graph
	g.Add(arm.Node{ID: id, Policy: arm.Repair, Body: body})
	state.AddRemovals(&g)
	owned := g.Nodes()[0].OwnedPaths
	want := []string{`properties.configurationSettings."example.com/team"[x]`, `properties.configurationSettings."grafana.enabled"`}
	if diff := cmp.Diff(want, owned); diff != "" {
		t.Fatalf("paths that the object owns (-want +got):\n%s", diff)
	}
	row, _ := types.ForID(id)
	observed := map[string]any{"properties": map[string]any{"configurationSettings": map[string]any{"grafana.enabled": "true",
		"other.key": "true"}}}
	got := compare.PathsOf(compare.Diff(compare.Desired{Type: row, Body: body, OwnedPaths: owned}, observed))
	if diff := cmp.Diff(want[1:], got); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}
