package tenancy_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// rules are nodes that break one rule each, for a kind whose Cluster has a name, with the expected messages.
var rules = map[string]struct {
	node    func(w *world, kind, cluster string) arm.Node
	message string
}{
	"role outside of the group": {func(w *world, kind, _ string) arm.Node {
		name := uuid.NewSHA1(uuid.NameSpaceURL, []byte(kind)).String()
		return arm.Node{ID: arm.SubscriptionID(w.Azure.SubscriptionID).Extension("Microsoft.Authorization/roleAssignments", name),
			Policy: arm.CreateOnly, Foreign: arm.UseForeign,
			Body: map[string]any{"properties": map[string]any{"principalId": name, "principalType": "ServicePrincipal",
				"roleDefinitionId": w.expandID("providers/Microsoft.Authorization/roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635")}}}
	}, "would give rights outside of the resource groups that were created for the Cluster"},
	"reference to a resource of others": {func(w *world, kind, cluster string) arm.Node {
		return arm.Node{ID: arm.ID(w.expandID("resourceGroups/" + cluster + "/providers/Microsoft.Compute/disks/copy-" + strings.ToLower(kind))),
			Policy: arm.Repair,
			Body: map[string]any{"location": "eastus", "tags": map[string]any{infrav1.ClusterTagKey(cluster): "owned"},
				"sku": map[string]any{"name": "Premium_LRS"},
				"properties": map[string]any{"creationData": map[string]any{"createOption": "Copy",
					"sourceResourceId": w.expandID(foreignPath("Microsoft.Compute/disks", "secret"))}}}}
	}, "is named by properties.creationData.sourceResourceId and is not the Cluster's"},
	"resource below one of others": {func(w *world, kind, _ string) arm.Node {
		return arm.Node{ID: arm.ID(w.expandID(foreignPath("Microsoft.Network/privateDnsZones", "corp.example"))).Child("A",
			strings.ToLower(kind)), Policy: arm.Repair,
			Body: map[string]any{"properties": map[string]any{"ttl": 60, "aRecords": []any{map[string]any{"ipv4Address": "10.0.0.4"}}}}}
	}, "is not the Cluster's, so nothing is created below it"},
	"tag of another owner": {func(w *world, kind, cluster string) arm.Node {
		return arm.Node{ID: arm.ID(w.expandID("resourceGroups/" + cluster + "/providers/Microsoft.Compute/disks/gift-" + strings.ToLower(kind))),
			Policy: arm.Repair,
			Body: map[string]any{"location": "eastus",
				"tags":       map[string]any{infrav1.ClusterTagKey(cluster): "owned", infrav1.ClusterTagKey("victim"): "owned"},
				"sku":        map[string]any{"name": "Premium_LRS"},
				"properties": map[string]any{"creationData": map[string]any{"createOption": "Empty"}, "diskSizeGB": 8}}}
	}, "marks the owner of a resource and is set only by the provider"},
}

// TestEveryPlanPasses adds to the plans of every kind, of objects that have been Ready with a lent identity, what breaks a rule.
func TestEveryPlanPasses(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.startManager()
				if diff := cmp.Diff(kindsOf(t, "PlanDeletion(", w.kinds), slices.Sorted(slices.Values(w.kinds))); diff != "" {
					t.Fatalf("kinds that plan something in Azure (-want), and that are tried (+got):\n%s", diff)
				}
				w.createEveryKind()
				mark := w.Azure.MarkRequests()
				w.extra = func(kind string, g *arm.Graph) {
					node := rule.node(w, kind, objectCluster(kind))
					node.Group = g.Nodes()[0].Group
					g.Add(node)
				}
				for _, kind := range w.kinds {
					w.touchObject(kind, name)
				}
				for _, kind := range w.kinds {
					w.waitStatusContains(kind, rule.message)
				}
				for _, kind := range w.kinds {
					name := rule.node(w, kind, objectCluster(kind)).ID.Name()
					if slices.ContainsFunc(w.Azure.WritesSince(mark), func(request string) bool { return strings.Contains(request, name) }) {
						t.Errorf("%s: %s was written", kind, name)
					}
				}
			})
		})
	}
}

// createEveryKind makes an object of each kind and waits until all are Ready: an identity that is lent is enough for clusters that name
// nothing of others.
func (w *world) createEveryKind() {
	w.T.Helper()
	w.createNetwork(nil)
	w.createAKSCluster(nil, nil)
	w.createASOCluster(nil)
	w.waitProvisioned()
	w.createMachine(nil)
	w.createPool(nil)
	for _, kind := range w.kinds {
		w.waitReady(kind)
	}
}

func objectCluster(kind string) string {
	switch {
	case strings.HasPrefix(kind, "AzureASO"):
		return "d1"
	case strings.HasPrefix(kind, "AzureManaged"):
		return "k1"
	}
	return "c1"
}
